package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// local asks the processes under test for what they say of themselves. Every
// request has a connection of its own: those processes come and go.
var local = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// control calls the endpoint of the DIS's faults; without a plan it only asks.
func control(address, method string, plan *faultPlan) (now faultPlan, err error) {
	var body bytes.Buffer
	if plan != nil {
		if err := json.NewEncoder(&body).Encode(plan); err != nil {
			return now, err
		}
	}
	request, err := http.NewRequest(method, "http://"+address+"/faults", &body)
	if err != nil {
		return now, err
	}
	answer, err := ask(request)
	if err != nil {
		return now, fmt.Errorf("control endpoint: %w", err)
	}
	return now, json.Unmarshal(answer, &now)
}

func ask(request *http.Request) ([]byte, error) {
	answer, err := local.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, bytes.TrimSpace(body))
	}
	return body, err
}

// The metrics of the gateway that say what a reader of DIS should find.
const (
	ambiguousRecords = "kdg_ambiguous_resent_records_total"
	holeRecords      = "kdg_hole_records_total"
	movedRecords     = "kdg_moved_records_total"
	bufferedBytes    = "kdg_produce_buffer_bytes"
)

// scrape reads the metrics without labels.
func scrape(address string) (map[string]int64, error) {
	request, err := http.NewRequest(http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	body, err := ask(request)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	values := map[string]int64{}
	for line := range strings.SplitSeq(string(body), "\n") {
		name, value, found := strings.Cut(line, " ")
		if !found || strings.ContainsAny(name, "#{") {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, fmt.Errorf("metric %q: %w", line, err)
		}
		values[name] = int64(number)
	}
	for _, name := range []string{ambiguousRecords, holeRecords, movedRecords, bufferedBytes} {
		if _, found := values[name]; !found {
			return nil, fmt.Errorf("the gateway has no metric %s", name)
		}
	}
	return values, nil
}
