package main

import (
	"fmt"
	"net"
	"strconv"
)

// validAddress refuses what is no HOST:PORT to listen on.
func validAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return fmt.Errorf("%q is not HOST:PORT (an IPv6 address needs brackets)", text)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q has no valid port; allowed: 0 to 65535", text)
	}
	return nil
}

// opened is an address that a setting has opened.
type opened struct{ setting, address string }

// clashes finds valid addresses that cannot be open at the same time.
func (p *problems) clashes(all []opened) {
	for i, one := range all {
		for _, other := range all[:i] {
			if !one.clashesWith(other) {
				continue
			}
			if one == other {
				p.setting(one.setting, fmt.Errorf("%s stands there twice: leave one out", one.address))
			} else {
				p.setting(one.setting, fmt.Errorf("%s is taken by %s of --%s already: give another port", one.address, other.address, other.setting))
			}
			break
		}
	}
}

func (o opened) clashesWith(other opened) bool {
	host, port, _ := net.SplitHostPort(o.address) // both are valid
	otherHost, otherPort, _ := net.SplitHostPort(other.address)
	if port != otherPort || port == "0" {
		return false
	}
	for _, ip := range bindable(host) {
		for _, otherIP := range bindable(otherHost) {
			if ip == otherIP || isAny(ip, otherIP) || isAny(otherIP, ip) {
				return true
			}
		}
	}
	return false
}

// bindable are the addresses that a host stands for, as texts.
func bindable(host string) []string {
	switch host {
	case "localhost":
		return []string{"127.0.0.1", "::1"}
	case "":
		return []string{"::"}
	}
	return []string{host}
}

// isAny reports whether any is the address of every interface, and other is one of
// them: [::] has the addresses of IPv4 too.
func isAny(any, other string) bool {
	return any == "::" || any == "0.0.0.0" && net.ParseIP(other).To4() != nil
}
