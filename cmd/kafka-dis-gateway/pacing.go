package main

import (
	"errors"
	"strconv"
	"strings"
)

// mostPacing is the most that --pacing may be in percent: a service may grant more
// than it documents, but not at will.
const mostPacing = 1000

// checkPacing reads --pacing.
func (s *gatewaySettings) checkPacing(found *problems) {
	var err error
	if s.pacing, err = parsePacing(s.Pacing); err != nil {
		found.setting("pacing", err)
	}
}

// parsePacing gives the share of the documented throughput that a text stands for;
// 0 is no pacing.
func parsePacing(text string) (share float64, err error) {
	switch text {
	case "off":
		return 0, nil
	case "documented":
		return 1, nil
	}
	digits, isPercent := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseFloat(digits, 64)
	if !isPercent || err != nil || !(percent >= 1 && percent <= mostPacing) {
		return 0, errors.New(strconv.Quote(text) + " is not allowed, give documented, off, or a percentage from 1% to 1000%")
	}
	return percent / 100, nil
}
