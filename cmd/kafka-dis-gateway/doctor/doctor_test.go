package doctor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// silent is the log of servers that are meant to meet broken connections.
var silent = log.New(io.Discard, "", 0)

func portOf(url string) string { return url[strings.LastIndexByte(url, ':')+1:] }

// TestHealthy: where nothing is wrong nothing is said to be.
func TestHealthy(t *testing.T) {
	p := newPatient(t)
	p.cfg.Topics = []string{"orders"}
	r := p.examine()
	for _, one := range r.results {
		if one.State == Failed || one.State == Warning {
			t.Errorf("%+v", one)
		}
	}
	if len(r.failed) > 0 {
		t.Errorf("failed: %q", r.failed)
	}
	for key, want := range map[string]string{
		"credentials": "environment: keys",
		"topic orders": "RUNNING; 2 partitions; 1 record (0: [0 : 1], 1: [0 : 0]); COMMON BLOB, kept 24 h; " +
			"of the newest records 1 plain, the newest of 20",
		"permission GetRecords": "tried with stream orders",
		"permission PutRecords": "not tried without --write-test STREAM",
		"checkpoints":           "no checkpoint changed within 1ms, of 1 pair of app and stream",
	} {
		if got := r.of(key); len(got) != 1 || !strings.HasPrefix(got[0].Found, want) {
			t.Errorf("%s: %+v, want %q", key, got, want)
		}
	}
	for _, key := range []string{"tcp", "tls", "answer", "clock", "identity"} {
		if got := r.of(key); len(got) != 1 || got[0].State != OK {
			t.Errorf("%s: %+v", key, got)
		}
	}
}

// wanted is a line that a report is to have: how the check ended, and words of what
// was found and what is to be done.
type wanted struct {
	key    string // of Result, "check subject"
	state  State
	found  string
	remedy string
}

// ailment is something that is wrong.
type ailment struct {
	name    string
	dis     func(*embedded.Config)
	arrange func(*patient)
	want    []wanted
}

var ailments = []ailment{
	{"mistakes in the settings", nil, func(p *patient) {
		p.cfg.Mistakes = []error{errors.New("--listen: no"), errors.New("KDG_GROUPS: no")}
	}, []wanted{{"settings", Failed, "--listen: no", ""}, {"settings", Failed, "KDG_GROUPS: no", ""}, {"permission ListStreams", Skipped, "needs settings", ""}}},

	{"another program has the admin address", nil, func(p *patient) { p.cfg.Admin = webServer(p.t, "hello") },
		[]wanted{{"gateway", Failed, "something else than a gateway answers", "--admin-listen"}, {"address ADMIN", Failed, "in use by another program", "--admin-listen"}}},
	{"the gateway runs and is not ready", nil, func(p *patient) { p.cfg.Admin = runningGateway(p.t, "DIS refuses the gateway", 0) },
		[]wanted{{"gateway", Warning, "version v9 runs at", "failed checks"}, {"address ADMIN", OK, "in use, as it seems by the gateway", ""}}},
	{"another program has the Kafka address", nil, func(p *patient) { p.cfg.Kafka = []string{silentServer(p.t)} },
		[]wanted{{"address KAFKA", Failed, "in use by another program", "--listen"}}},
	{"a Kafka server has the Kafka address", nil, func(p *patient) { p.cfg.Kafka = []string{kafkaServer(p.t)} },
		[]wanted{{"address KAFKA", Warning, "in use by a Kafka server", "--listen"}}},
	{"an address of another machine", nil, func(p *patient) { p.cfg.Kafka = []string{"192.0.2.1:9092"} },
		[]wanted{{"address KAFKA", Failed, "cannot be opened", "one of this machine"}}},

	{"few open files", nil, func(p *patient) { p.cfg.openFiles = func() (uint64, error) { return 1024, nil } },
		[]wanted{{"open-files", Warning, "1024 files", "ulimit -n"}}},
	{"unknown open files", nil, func(p *patient) { p.cfg.openFiles = func() (uint64, error) { return 0, errors.New("no idea") } },
		[]wanted{{"open-files", Warning, "no idea", "ulimit -n"}}},
	{"a small container", nil, func(p *patient) { p.cfg.MemoryAvailable = func() (int64, error) { return 50 << 20, nil } },
		[]wanted{{"memory", Warning, "100 MiB are needed with full buffers, the container has 50 MiB", "--fetch-cache"}}},
	{"an unknown container", nil, func(p *patient) { p.cfg.MemoryAvailable = func() (int64, error) { return 0, errors.New("no idea") } },
		[]wanted{{"memory", Warning, "no idea", "limit of the container"}}},

	{"no source of keys", nil, func(p *patient) { p.cfg.Identity = func(*dis.Config) error { return errors.New("no such file") } },
		[]wanted{{"credentials", Failed, "environment: no such file", "--dis-credentials"}, {"dns HOST", Skipped, "needs credentials", ""}, {"permission PutRecords", Skipped, "--write-test", ""}}},
	{"half a pair of keys", nil, func(p *patient) { p.cfg.Identity = p.keys("ak", "") },
		[]wanted{{"credentials", Failed, "secret key is empty", "--dis-credentials"}}},
	{"no token", nil, func(p *patient) {
		p.cfg.Identity = token(p, func() (string, error) { return "", errors.New("no token") })
	},
		[]wanted{{"credentials", Failed, "no token", "--dis-token-file"}}},

	{"a name that does not exist", nil, func(p *patient) { p.cfg.DIS.Endpoint = "https://dis..myhuaweicloud.com" },
		[]wanted{{"dns HOST", Failed, "is no name that this machine can resolve", "--dis-endpoint"}, {"tcp HOST", Skipped, "needs dns", ""}, {"topic", Skipped, "needs dns", ""}}},
	{"nobody there", nil, func(p *patient) { p.cfg.DIS.Endpoint = "http://" + freeAddress(p.t) },
		[]wanted{{"tcp HOST", Failed, "connection refused", "--dis-endpoint (host and port)"}, {"identity HOST", Skipped, "needs tcp", ""}}},
	{"the manager is not there", nil, func(p *patient) { p.cfg.DIS.ManagerEndpoint = "http://" + freeAddress(p.t) },
		[]wanted{{"tcp MANAGER", Failed, "connection refused", "--dis-manager-endpoint"}, {"identity HOST", OK, "accepts it", ""}, {"identity MANAGER", Skipped, "needs tcp", ""}}},

	{"an issuer that is not trusted", nil, func(p *patient) { p.overTLS("localhost", time.Now().Add(1000*time.Hour), false) },
		[]wanted{{"tls HOST", Failed, "unknown authority", "--dis-ca-file"}, {"answer HOST", Skipped, "needs tls", ""}}},
	{"a certificate for another name", nil, func(p *patient) { p.overTLS("dis.test", time.Now().Add(1000*time.Hour), true) },
		[]wanted{{"tls HOST", Failed, "valid for dis.test", "--dis-endpoint: give the name"}}},
	{"an expired certificate", nil, func(p *patient) { p.overTLS("localhost", time.Now().Add(-time.Hour), true) },
		[]wanted{{"tls HOST", Failed, "has expired", "the clock of this machine"}}},
	{"a certificate that expires soon", nil, func(p *patient) { p.overTLS("localhost", time.Now().Add(73*time.Hour), true) },
		[]wanted{{"tls HOST", Warning, "in 3 days", "renewed"}, {"identity HOST", OK, "accepts it", ""}}},
	{"no TLS at the address", nil, func(p *patient) { p.cfg.DIS.Endpoint = strings.Replace(p.server.URL, "http://", "https://", 1) },
		[]wanted{{"tls HOST", Failed, "no TLS", "http://"}}},

	{"no DIS at the address", nil, func(p *patient) { p.cfg.DIS.Endpoint = "http://" + webServer(p.t, "hello") },
		[]wanted{{"answer HOST", Failed, "no DIS answers", "--dis-endpoint"}}},
	{"DIS is down", nil, fault(embedded.Fault{Kind: embedded.FaultError, Status: 503}),
		[]wanted{{"answer HOST", Failed, "DIS is in trouble", "wait for DIS"}, {"clock HOST", OK, "", ""}, {"identity HOST", Skipped, "needs answer", ""}}},
	{"DIS is busy", nil, fault(embedded.Fault{Kind: embedded.FaultTooMany, Count: 1}),
		[]wanted{{"answer HOST", Warning, "DIS is busy", "wait for DIS"}, {"identity HOST", Warning, "too busy", "wait"}, {"permission ListStreams", OK, "1 stream, 1 topic", ""}}},
	{"DIS cuts the connection", nil, fault(embedded.Fault{Kind: embedded.FaultLostReply}),
		[]wanted{{"answer HOST", Failed, "no answer", "--dis-endpoint"}}},
	{"DIS hangs", nil, func(p *patient) {
		p.cfg.Limit = 300 * time.Millisecond
		p.faults(embedded.Fault{Kind: embedded.FaultLatency, Latency: embedded.FaultDuration(time.Hour)})
	}, []wanted{{"answer HOST", Failed, "no answer: nothing within 240ms", "wait for DIS"}, {"clock HOST", Skipped, "no answer with a date", ""}}},

	{"the clock is 20 minutes behind", inFuture(20 * time.Minute), dated(20 * time.Minute),
		[]wanted{{"clock HOST", Failed, "is 20m0s behind that of DIS", "set the clock"}, {"identity HOST", Failed, "clock of this machine is wrong", "set the clock"}}},
	{"the clock is 20 minutes ahead", inFuture(-20 * time.Minute), dated(-20 * time.Minute),
		[]wanted{{"clock HOST", Failed, "is 20m0s ahead of that of DIS", "set the clock"}}},
	{"the clock is 5 minutes behind", inFuture(5 * time.Minute), dated(5 * time.Minute),
		[]wanted{{"clock HOST", Warning, "is 5m0s behind that of DIS", "set the clock"}, {"identity HOST", OK, "accepts it", ""}}},
	{"answers without a date", nil, dated(-1), []wanted{{"clock HOST", Skipped, "no answer with a date", ""}, {"identity HOST", OK, "", ""}}},

	{"a wrong secret key", nil, func(p *patient) { p.cfg.Identity = p.keys("ak", "wrong") },
		[]wanted{{"identity HOST", Failed, "the secret key does not belong to it: DIS ListStreams: DIS.4112", "HUAWEICLOUD_SDK_SK"}}},
	{"a wrong secret key, as 441", func(c *embedded.Config) { c.AuthStatus = 441 }, func(p *patient) { p.cfg.Identity = p.keys("ak", "wrong") },
		[]wanted{{"identity HOST", Failed, "DIS.4112", "HUAWEICLOUD_SDK_SK"}}},
	{"an unknown access key", nil, func(p *patient) { p.cfg.Identity = p.keys("who", secretKey) },
		[]wanted{{"identity HOST", Failed, "DIS does not know the access key", "HUAWEICLOUD_SDK_AK"}}},
	{"a wrong region", nil, func(p *patient) { p.cfg.DIS.Region = "x" },
		[]wanted{{"identity HOST", Failed, "the region is not the one of this DIS", "HUAWEICLOUD_SDK_REGION (or --region)"}}},
	{"a wrong project", nil, func(p *patient) { p.cfg.DIS.ProjectID = "x" },
		[]wanted{{"identity HOST", Failed, "the project is not one of this user", "--project-id"}}},
	{"a wrong token", nil, func(p *patient) { p.cfg.Identity = token(p, func() (string, error) { return "expired", nil }) },
		[]wanted{{"credentials", OK, "a token", ""}, {"identity HOST", Failed, "DIS does not accept the token", "--dis-token-file"}}},
	{"a blocked machine", nil, answering(403, `{"errorCode":"DIS.4309","message":"Blocked."}`),
		[]wanted{{"identity HOST", Failed, "DIS has blocked this machine", "half an hour"}}},
	{"a signature that is not understood", nil, answering(401, `{"errorCode":"DIS.4102","message":"Cannot be parsed."}`),
		[]wanted{{"identity HOST", Failed, "DIS.4102", "--dis-signing"}}},

	{"too many calls", nil, fault(embedded.Fault{Kind: embedded.FaultThrottle, Operations: []string{"ListApps"}}),
		[]wanted{{"permission ListApps", Warning, "DIS.4303", "not known whether the call is allowed"}, {"checkpoints", Warning, "DIS.4303", "wait"}}},
	{"too many calls about streams", nil, func(p *patient) {
		p.cfg.Topics = []string{"orders"}
		p.faults(embedded.Fault{Kind: embedded.FaultThrottle, Operations: []string{"DescribeStream"}})
	}, []wanted{{"topic orders", Warning, "not looked at", "wait"}}},
	{"too many reads", nil, func(p *patient) {
		p.cfg.Topics = []string{"orders"}
		p.faults(embedded.Fault{Kind: embedded.FaultThrottle, Operations: []string{"GetRecords"}})
	}, []wanted{{"topic orders", Warning, "not read", "wait"}}},
	{"one call does not work", nil, fault(embedded.Fault{Kind: embedded.FaultError, Operations: []string{"ConsumerState"}}),
		[]wanted{{"permission ConsumerState", Failed, "DIS is in trouble", "wait for DIS"}, {"topic orders", OK, "RUNNING", ""}, {"checkpoints", Skipped, "needs permission ConsumerState", ""}}},
	{"one call hangs", nil, func(p *patient) {
		p.cfg.Limit = 300 * time.Millisecond
		p.faults(embedded.Fault{Kind: embedded.FaultLatency, Operations: []string{"GetCursor"}, Latency: embedded.FaultDuration(time.Hour)})
	}, []wanted{{"permission GetCursor", Failed, "DIS does not answer", "network"}, {"permission GetRecords", Skipped, "needs permission GetCursor", ""}, {"permission ListApps", OK, "1 app", ""}, {"topic orders", Warning, "reading failed", "network"}}},

	{"a topic that does not exist", nil, func(p *patient) { p.cfg.Topics = []string{"order"} },
		[]wanted{{"topic order", Failed, "there is no such topic", "check the name"}}},
	{"a topic that cannot exist", nil, func(p *patient) { p.cfg.Topics = []string{"my.orders"} },
		[]wanted{{"topic my.orders", Failed, "invalid topic name", "--alias"}}},
	{"a topic that is hidden", nil, func(p *patient) {
		p.cfg.Topics, p.cfg.Names = []string{"orders"}, new(translate.Names)
		p.cfg.Names.Hide("ord*")
	}, []wanted{{"topic orders", Failed, "--hide-topics has ord*", "--hide-topics"}}},
	{"an alias of an id that nobody has", nil, func(p *patient) {
		p.cfg.Names = new(translate.Names)
		p.must(p.cfg.Names.Add(translate.Alias{Topic: "partner", Stream: translate.StreamRef{ID: "nobody"}}))
	}, []wanted{{"topic partner", Warning, "there is no stream of id nobody", "--alias"}, {"topic orders", OK, "RUNNING", ""}}},
	{"no topics", nil, func(p *patient) { p.must(p.client.DeleteStream(p.t.Context(), "orders")) },
		[]wanted{{"permission GetCursor", OK, "allowed; there is no stream to try it with", ""}, {"permission GetRecords", Skipped, "no stream to read from", ""}, {"topic", Warning, "there is no topic", "--project-id"}}},
	{"a stream that is frozen", nil, rewriting("RUNNING", "FROZEN"),
		[]wanted{{"topic orders", Warning, "the stream is FROZEN", "balance"}}},
	{"a stream that was asked for and is frozen", nil, func(p *patient) { rewriting("RUNNING", "FROZEN")(p); p.cfg.Topics = []string{"orders"} },
		[]wanted{{"topic orders", Failed, "the stream is FROZEN", "balance"}}},
	{"a stream that is being made", nil, rewriting("RUNNING", "CREATING"), []wanted{{"topic orders", Warning, "the stream is CREATING", "wait"}}},
	{"a stream that is being deleted", nil, rewriting("RUNNING", "TERMINATING"), []wanted{{"topic orders", Warning, "the stream is TERMINATING", "no longer"}}},
	{"a stream that was deleted just now", nil, deletedMeanwhile, []wanted{{"topic orders", Warning, "it has just been deleted", "no longer"}}},
	{"retired partitions", nil, func(p *patient) { scale(p, 1) }, []wanted{{"topic orders", OK, "1 partition and 1 retired, still readable", ""}}},
	{"expired partitions", nil, func(p *patient) { scale(p, 1); rewriting(`"DELETED"`, `"EXPIRED"`)(p) },
		[]wanted{{"topic orders", OK, "1 partition and 1 EXPIRED, without leader for clients", ""}}},
	{"no partition to write", nil, rewriting(`"ACTIVE"`, `"DELETED"`), []wanted{{"topic orders", Warning, "no partition can be written", "scale"}}},
	{"partitions that are not understood", nil, rewriting("[0 :", "{0 :"), []wanted{{"topic orders", Warning, "sequence number range", "support"}}},
	{"records that nobody gets", nil, fault(embedded.Fault{Kind: embedded.FaultEmptyReads}), []wanted{{"topic orders", OK, "no record came", ""}}},
	{"envelopes", nil, func(p *patient) {
		data, _, _ := record.EncodeDIS(record.Record{Value: []byte("v"), Headers: []record.Header{{Key: "h"}}})
		p.put("orders", 1, data)
	}, []wanted{{"topic orders", OK, "of the newest records 1 plain, 1 in envelopes", ""}}},
	{"damaged envelopes", nil, func(p *patient) { p.put("orders", 1, []byte("\x00KDG\x01 something else")) },
		[]wanted{{"topic orders", Warning, "1 begin like envelopes of the gateway and are none", "docs/record-format.md"}}},

	{"somebody commits", nil, committing("billing"),
		[]wanted{{"checkpoints billing", Warning, "somebody commits for it, and no gateway answers here: orders shardId-0000000000 from 0 to 1", "use one gateway"}, {"checkpoints", OK, "1 app changed", ""}}},
	{"somebody else commits", nil, func(p *patient) { p.cfg.Admin = runningGateway(p.t, "", 0, "reports"); committing("billing")(p) },
		[]wanted{{"checkpoints billing", Warning, "does not keep group billing", "use one gateway"}}},
	{"the gateway here commits", nil, func(p *patient) {
		p.cfg.Admin = runningGateway(p.t, "", 0, "reports", "billing")
		committing("billing")(p)
	},
		[]wanted{{"checkpoints billing", OK, "its members commit through the gateway at", ""}}},
	{"the gateway has seen changes by others", nil, func(p *patient) { p.cfg.Admin = runningGateway(p.t, "", 7) },
		[]wanted{{"checkpoints", Warning, "has found 7 committed offsets of its groups changed by somebody else", "use one gateway"}}},
	{"a group that DIS cannot keep", nil, func(p *patient) { p.cfg.Groups = []string{strings.Repeat("g", 201)} },
		[]wanted{{"checkpoints " + strings.Repeat("g", 201), Failed, "needs a name of 201 characters", "--dis-app-name-max"}}},
	{"a group that never committed", nil, func(p *patient) { p.cfg.Groups = []string{"new"} },
		[]wanted{{"checkpoints new", OK, "never committed", ""}}},
	{"groups off", nil, func(p *patient) { p.cfg.GroupsOff = true },
		[]wanted{{"checkpoints", Skipped, "--groups=off", ""}, {"permission CommitCheckpoint", Skipped, "--groups=off", ""}}},
	{"not watched", nil, func(p *patient) { p.cfg.Watch = 0 }, []wanted{{"checkpoints", Skipped, "--watch 0s", ""}}},

	{"the stream of the write test is missing", nil, func(p *patient) { p.cfg.WriteTest = "nowhere" },
		[]wanted{{"permission PutRecords", Failed, "DIS.4301", ""}, {"permission CreateApp", OK, "was made", ""}, {"permission DeleteApp", OK, "was deleted", ""}}},
	{"the app of the write test stays", nil, func(p *patient) {
		p.cfg.WriteTest = "orders"
		p.faults(embedded.Fault{Kind: embedded.FaultError, Operations: []string{"DeleteApp"}})
	}, []wanted{{"permission DeleteApp", Failed, "DIS is in trouble", "wait"}, {"write-test", Failed, "is still there", "by hand"}}},
}

// forbidden are the ailments of missing permissions, one for each call that can be
// tried.
func forbidden() (all []ailment) {
	for _, a := range apis {
		if a.try == nil {
			continue
		}
		all = append(all, ailment{a.operation + " is forbidden", nil, func(p *patient) {
			p.cfg.WriteTest = "orders"
			p.faults(embedded.Fault{Kind: embedded.FaultForbidden, Operations: []string{a.operation}})
		}, []wanted{{permission + " " + a.operation, Failed, "DIS.4116", a.without}}})
	}
	return all
}

// TestEachFailure provokes what can be wrong, one after the other; and every check
// that can find something has found it.
func TestEachFailure(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range slices.Concat(ailments, forbidden()) {
		t.Run(a.name, func(t *testing.T) {
			adjust := []func(*embedded.Config){}
			if a.dis != nil {
				adjust = append(adjust, a.dis)
			}
			p := newPatient(t, adjust...)
			a.arrange(p)
			r := p.examine()
			wantsFailure := false
			for _, want := range a.want {
				p.wants(r, want)
				wantsFailure = wantsFailure || want.state == Failed
				if want.state == Failed || want.state == Warning {
					seen[checkOf(want.key)] = true
				}
			}
			if wantsFailure != (len(r.failed) > 0) {
				t.Errorf("failed: %q", r.failed)
			}
			if t.Failed() {
				t.Logf("the report:\n%s", r)
			}
		})
	}
	p := newPatient(t)
	e := newExamination(p.cfg)
	for _, c := range e.checks() {
		name := checkOf(c.key())
		if c.name == permission && slices.ContainsFunc(apis, func(a api) bool { return a.operation == c.subject && a.try == nil }) {
			continue // never tried
		}
		if !seen[name] {
			t.Errorf("nothing in the test makes %s find anything wrong", name)
		}
	}
}

// checkOf is the name of a check, with the call of a permission.
func checkOf(key string) string {
	name, subject, _ := strings.Cut(key, " ")
	if name == permission {
		return name + " " + subject
	}
	return name
}

// wants looks for a line of the report; HOST, MANAGER, KAFKA and ADMIN stand for the
// addresses of the settings.
func (p *patient) wants(r report, want wanted) {
	p.t.Helper()
	host := func(url string) string { return strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://") }
	key := strings.NewReplacer("HOST", host(p.cfg.DIS.Endpoint), "MANAGER", host(p.cfg.DIS.ManagerEndpoint), "KAFKA", p.cfg.Kafka[0], "ADMIN", p.cfg.Admin).Replace(want.key)
	got := r.of(key)
	if !slices.ContainsFunc(got, func(one Result) bool {
		return one.State == want.state && strings.Contains(one.Found, want.found) && strings.Contains(one.Remedy, want.remedy)
	}) {
		p.t.Errorf("%s is %+v\nwant %s, %q, %q", key, got, want.state, want.found, want.remedy)
	}
}

func fault(f embedded.Fault) func(*patient) { return func(p *patient) { p.faults(f) } }

// inFuture moves the clock of DIS.
func inFuture(by time.Duration) func(*embedded.Config) {
	return func(c *embedded.Config) { c.Now = func() time.Time { return time.Now().Add(by) }; c.ClockSkew = -1 }
}

// dated has answers carry the date of a clock that is off by so much, and signatures
// looked at by it; negative by less than a second: no date.
func dated(by time.Duration) func(*patient) {
	return func(p *patient) {
		p.setFront(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			w.Header().Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
			if by == -1 {
				w.Header()["Date"] = nil
			}
			signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Sdk-Date"))
			if off := time.Since(signed) + by; err != nil || off > 15*time.Minute || off < -15*time.Minute {
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = io.WriteString(w, `{"errorCode":"DIS.4105","message":"X-Sdk-Date is invalid."}`)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func answering(status int, body string) func(*patient) {
	return func(p *patient) {
		p.setFront(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
}

// rewriting replaces a text in all JSON answers: states that an embedded DIS does not
// have.
func rewriting(from, to string) func(*patient) {
	return func(p *patient) {
		p.setFront(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			kept := httptest.NewRecorder()
			next.ServeHTTP(kept, r)
			w.Header().Set("Content-Type", kept.Header().Get("Content-Type"))
			w.WriteHeader(kept.Code)
			_, _ = w.Write(bytes.ReplaceAll(kept.Body.Bytes(), []byte(from), []byte(to)))
		})
	}
}

// deletedMeanwhile deletes the stream when it has been described once.
func deletedMeanwhile(p *patient) {
	p.setFront(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		if strings.HasSuffix(r.URL.Path, "/apps/"+absent) { // comes after
			if err := p.store.SetFaults(embedded.FaultPlan{}); err != nil {
				p.t.Error(err)
			}
			p.setFront(nil)
			if err := p.client.DeleteStream(context.WithoutCancel(p.t.Context()), "orders"); err != nil {
				p.t.Error(err)
			}
		}
	})
}

func scale(p *patient, target int) {
	_, err := p.client.ChangePartitionCount(p.t.Context(), "orders", target)
	p.must(err)
}

// committing commits for an app after its checkpoints have been read once.
func committing(app string) func(*patient) {
	return func(p *patient) {
		p.setFront(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(w, r)
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/apps/"+app+"/") {
				p.setFront(nil)
				p.commit(app, 1)
			}
		})
	}
}

// token is an identity that is a token.
func token(p *patient, get tokenFunc) func(*dis.Config) error {
	p.cfg.IdentitySource = "file t"
	return func(c *dis.Config) error { c.Tokens = get; return nil }
}

type tokenFunc func() (string, error)

func (f tokenFunc) Token(context.Context) (string, error) { return f() }

func webServer(t *testing.T, text string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// runningGateway answers what a gateway does that keeps groups.
func runningGateway(t *testing.T, notReady string, foreign int, groups ...string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/readyz" && notReady != "":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, notReady)
		case r.URL.Path == "/metrics":
			_, _ = io.WriteString(w, "# TYPE kdg_build_info gauge\n"+`kdg_build_info{commit="c",go_version="go1",version="v9"} 1`+"\n")
			_, _ = io.WriteString(w, "kdg_foreign_commits_total "+string(rune('0'+foreign))+"\n")
			for _, group := range groups {
				_, _ = io.WriteString(w, `kdg_group_lag_records{group="`+group+`",partition="0",topic="orders"} 5`+"\n")
			}
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// silentServer closes every connection.
func silentServer(t *testing.T) string { return rawServer(t, func(net.Conn) {}) }

// kafkaServer gives the correlation id of a request back, which is enough.
func kafkaServer(t *testing.T) string {
	return rawServer(t, func(conn net.Conn) {
		request := make([]byte, 14)
		if _, err := io.ReadFull(conn, request); err == nil {
			_, _ = conn.Write(append([]byte{0, 0, 0, 4}, request[8:12]...))
		}
	})
}

func rawServer(t *testing.T, serve func(net.Conn)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-done })
	return listener.Addr().String()
}
