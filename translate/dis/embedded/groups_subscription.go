package embedded

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// errSubscription is the refusal of a subscription to a stream that does not
// exist, or that is named twice.
var errSubscription = errors.New("no valid subscription")

// subscriptionOf finds the streams that a member asks for; names has those that
// match its pattern.
func (c *catalog) subscriptionOf(project string, r *wire.JoinGroupRequest) (streams subscription, names []string, err error) {
	if r.StreamPattern != "" {
		return c.streamsMatching(project, r.StreamPattern)
	}
	streams, known := subscription{}, map[*stream]bool{}
	add := func(key string, st *stream, err error) error {
		if key == "" || err != nil || known[st] && streams[key] != st {
			return errSubscription
		}
		streams[key], known[st] = st, true
		return nil
	}
	for _, name := range r.InterestedStream {
		st, err := c.stream(project, name, "")
		if err := add(name, st, err); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range r.InterestedStreamIDList {
		st, err := c.stream(project, "", id)
		if err := add(id, st, err); err != nil {
			return nil, nil, err
		}
	}
	if len(streams) == 0 {
		return nil, nil, errSubscription
	}
	return streams, nil, nil
}

// streamsMatching finds the streams of the project whose whole name matches.
func (c *catalog) streamsMatching(project, pattern string) (streams subscription, names []string, err error) {
	expression, err := compilePattern(pattern)
	if err != nil {
		return nil, nil, invalidRequest("streamPattern", err)
	}
	streams = subscription{}
	for _, st := range c.streams(project) {
		if expression.MatchString(st.name) {
			streams[st.name] = st
			names = append(names, st.name)
		}
	}
	return streams, names, nil
}

// compilePattern reads a pattern of the adapter's subscribe. There it is a Java
// regular expression that matches whole names; here it is RE2, which has the
// same syntax except for lookaround, back references and possessive quantifiers.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	// Alone first: an unbalanced pattern could become valid within parentheses.
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, fmt.Errorf("%w (patterns are RE2)", err)
	}
	return regexp.Compile(`\A(?:` + pattern + `)\z`)
}
