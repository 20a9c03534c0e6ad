package embedded

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ParseFault reads the form of the command line: the kind, then fields of Fault
// in any order, with several operations joined by a plus sign.
//
//	throttle-suffix,from=5,probability=0.1
//	lost-reply,operations=PutRecords+CommitCheckpoint,count=3
func ParseFault(text string) (Fault, error) {
	kind, rest, more := strings.Cut(text, ",")
	f := Fault{Kind: FaultKind(kind)}
	for more {
		var field string
		field, rest, more = strings.Cut(rest, ",")
		if err := f.set(field); err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", text, err)
		}
	}
	if err := f.validate(); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", text, err)
	}
	return f, nil
}

// set reads one field, "name=value".
func (f *Fault) set(field string) (err error) {
	name, value, _ := strings.Cut(field, "=")
	switch name {
	case "operations":
		f.Operations = strings.Split(value, "+")
	case "probability":
		f.Probability, err = strconv.ParseFloat(value, 64)
	case "count":
		f.Count, err = strconv.Atoi(value)
	case "latency":
		err = f.Latency.UnmarshalText([]byte(value))
	case "from":
		f.From, err = strconv.Atoi(value)
	case "status":
		f.Status, err = strconv.Atoi(value)
	case "by":
		f.By, err = strconv.ParseInt(value, 10, 64)
	default:
		return fmt.Errorf("%q: want operations, probability, count, latency, from, status or by", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// validate reports every mistake of a plan.
func (p FaultPlan) validate() error {
	var mistakes []error
	for i := range p.Faults {
		if err := p.Faults[i].validate(); err != nil {
			mistakes = append(mistakes, fmt.Errorf("fault %d: %w", i, err))
		}
	}
	return errors.Join(mistakes...)
}

func (f *Fault) validate() error {
	possible, known := hits[f.Kind]
	if !known {
		return fmt.Errorf("kind %q: want one of %s", f.Kind, strings.Join(faultKinds(), ", "))
	}
	for _, operation := range f.Operations {
		if !isOperation(operation) {
			return fmt.Errorf("%s: operation %q: there is no such call", f.Kind, operation)
		}
		if possible != nil && !slices.Contains(possible, operation) {
			return fmt.Errorf("%s: operation %q: it can hit only %s", f.Kind, operation, strings.Join(possible, ", "))
		}
	}
	switch {
	case !(f.Probability >= 0 && f.Probability <= 1):
		return fmt.Errorf("%s: probability %v: want more than 0 and at most 1", f.Kind, f.Probability)
	case f.Count < 0 || f.From < 0:
		return fmt.Errorf("%s: count %d and from %d: want at least 0", f.Kind, f.Count, f.From)
	case f.Kind == FaultLatency && f.Latency <= 0:
		return fmt.Errorf("%s: latency %v: want more than 0", f.Kind, time.Duration(f.Latency))
	case f.Status != 0 && (f.Status < 500 || f.Status > 599):
		return fmt.Errorf("%s: status %d: want 500 to 599", f.Kind, f.Status)
	case f.By < 0 || f.By > maxFaultBy:
		return fmt.Errorf("%s: by %d: want 1 to %d", f.Kind, f.By, maxFaultBy)
	}
	return nil
}

func faultKinds() []string {
	var kinds []string
	for kind := range hits {
		kinds = append(kinds, string(kind))
	}
	slices.Sort(kinds)
	return kinds
}

func isOperation(name string) bool {
	named := func(rt route) bool { return rt.operation == name }
	return slices.ContainsFunc(routes, named) || slices.ContainsFunc(routesV3, named)
}
