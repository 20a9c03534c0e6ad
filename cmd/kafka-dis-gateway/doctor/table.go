package doctor

import (
	"context"
	"slices"
)

// checks is the table: every check, in the order in which they are made. Those that
// concern this machine come first, then what each call to DIS depends on, then the
// calls, then what is in DIS.
func (e *examination) checks() []check {
	all := []check{
		{name: "settings", run: lookSettings},
		{name: "gateway", needs: []string{"settings"}, run: lookGateway},
	}
	for _, address := range e.cfg.Kafka {
		all = append(all, addressCheck("listen", address))
	}
	if e.cfg.Admin != "" {
		all = append(all, addressCheck("admin-listen", e.cfg.Admin))
	}
	all = append(all,
		check{name: "open-files", run: lookOpenFiles},
		check{name: "memory", needs: []string{"settings"}, run: lookMemory},
		check{name: "credentials", needs: []string{"settings"}, run: lookCredentials},
	)
	identities := []string{"credentials"} // an address that is none has no other
	for _, at := range e.endpoints() {
		all = append(all, e.connectionChecks(at)...)
		identities = append(identities, "identity "+at.url.Host)
	}
	all = append(all, e.permissionChecks(identities)...)
	return append(all,
		check{name: "topic", needs: []string{permission + " ListStreams", permission + " DescribeStream"}, limit: topicsLimit * e.cfg.Limit, run: lookTopics},
		e.checkpointsCheck(identities),
	)
}

func (e *examination) checkpointsCheck(identities []string) check {
	c := check{name: "checkpoints", needs: slices.Clone(identities), limit: e.cfg.Watch + 2*e.cfg.Limit, run: lookCheckpoints}
	if e.cfg.GroupsOff {
		c.run = func(context.Context, *examination) []Result {
			return leftOut("not needed without groups (--groups=off)")
		}
		return c
	}
	c.needs = append(c.needs, permission+" ListApps", permission+" ConsumerState")
	return c
}

// lookSettings passes on what has been found while the settings were read.
func lookSettings(_ context.Context, e *examination) []Result {
	if len(e.cfg.Mistakes) == 0 {
		return good("the gateway can start with them")
	}
	var all []Result
	for _, mistake := range e.cfg.Mistakes {
		all = append(all, found(Failed, "", "", "%v", mistake))
	}
	return all
}
