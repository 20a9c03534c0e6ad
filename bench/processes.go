package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// build makes the gateway's binary from the tree it is run in.
func build(dir string) (string, error) {
	binary := filepath.Join(dir, "kafka-dis-gateway")
	command := exec.Command("go", "build", "-o", binary, "./cmd/kafka-dis-gateway")
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("building the gateway: %w", err)
	}
	return binary, nil
}

// server is a running process under measurement.
type server struct {
	command *exec.Cmd
	output  *bufio.Reader
}

func startServer(binary string, args ...string) (*server, error) {
	command := exec.Command(binary, args...)
	command.Env = append(os.Environ(), "HUAWEICLOUD_SDK_AK=dev", "HUAWEICLOUD_SDK_SK=dev-secret",
		"HUAWEICLOUD_SDK_PROJECT_ID="+project, "HUAWEICLOUD_SDK_REGION="+region)
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", args[0], err)
	}
	return &server{command, bufio.NewReader(stdout)}, nil
}

// announced reads the server's output up to the line that begins with name, and
// returns the word that follows.
func (s *server) announced(name string) (string, error) {
	for {
		line, err := s.output.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("%s did not start: %w", s.command.Args[1], err)
		}
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			return fields[1], nil
		}
	}
}

// stop ends the server at once: there is nothing to save.
func (s *server) stop() {
	if s == nil {
		return
	}
	_ = s.command.Process.Kill() // it may have ended by itself
	_ = s.command.Wait()
}

// cpu is the processor time used so far.
func (s *server) cpu() (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	// The second field is the name in parentheses, which may hold spaces; user
	// and system time are fields 14 and 15, in ticks of 10 ms.
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("unexpected content of /proc/%d/stat", s.command.Process.Pid)
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// peakRSS is the largest resident memory so far in bytes, 0 when unknown.
func (s *server) peakRSS() int64 { return s.memory("VmHWM:") }

// rss is the resident memory now in bytes, 0 when unknown.
func (s *server) rss() int64 { return s.memory("VmRSS:") }

func (s *server) memory(field string) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.command.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				return 0
			}
			return kilobytes << 10
		}
	}
	return 0
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// The identity of the embedded DIS's development setup.
const (
	project   = "local"
	region    = "local"
	accessKey = "dev"
	secretKey = "dev-secret"
)

// setup is one embedded DIS and one gateway in front of it.
type setup struct {
	dis, gateway           *server
	endpoint, kafka, admin string
}

// startSetup adds latency to every REST answer; options are further ones of the
// gateway.
func startSetup(b *bench, latency time.Duration, options ...string) (*setup, error) {
	data, err := os.MkdirTemp(b.dir, "data-")
	if err != nil {
		return nil, err
	}
	var u setup
	if u.dis, err = startServer(b.binary, "embedded-dis", "--listen", "127.0.0.1:0", "--data-dir", data,
		"--latency", latency.String()); err != nil {
		return nil, err
	}
	if u.endpoint, err = u.dis.announced("DIS"); err == nil {
		err = u.startGateway(b.binary, options)
	}
	if err != nil {
		u.stop()
		return nil, err
	}
	return &u, nil
}

func (u *setup) startGateway(binary string, options []string) (err error) {
	args := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--dis-endpoint", u.endpoint,
		"--pacing", "off"}, options...) // it is the gateway that is measured
	u.gateway, err = startServer(binary, args...)
	if err != nil {
		return err
	}
	if u.kafka, err = u.gateway.announced("Kafka"); err != nil {
		return err
	}
	u.admin, err = u.gateway.announced("Admin")
	return err
}

func (u *setup) stop() {
	u.gateway.stop()
	u.dis.stop()
}

// calls are the DIS calls of one kind that the gateway has made so far.
type calls struct {
	count   float64
	seconds float64 // sum of the times until the answers
}

// disCalls reads the gateway's metrics.
func (u *setup) disCalls(operation string) (c calls, err error) {
	err = u.eachMetric(func(name string, value float64) {
		switch {
		case !strings.Contains(name, `operation="`+operation+`"`):
		case strings.HasPrefix(name, "kdg_dis_request_seconds_count"):
			c.count += value
		case strings.HasPrefix(name, "kdg_dis_request_seconds_sum"):
			c.seconds += value
		}
	})
	return c, err
}

// metric is the sum of the gateway's metrics of a name.
func (u *setup) metric(name string) (sum float64, err error) {
	found := false
	err = u.eachMetric(func(one string, value float64) {
		if one == name || strings.HasPrefix(one, name+"{") {
			found = true
			sum += value
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("the gateway has no metric %s", name)
	}
	return sum, err
}

// eachMetric calls do with each metric of the gateway, the name with its labels.
func (u *setup) eachMetric(do func(name string, value float64)) error {
	answer, err := http.Get("http://" + u.admin + "/metrics")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		value, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return fmt.Errorf("metric %q: %w", line, err)
		}
		do(line[:at], value)
	}
	return nil
}

// workerCPU is what a finished child used.
func workerCPU(state *os.ProcessState) time.Duration {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
