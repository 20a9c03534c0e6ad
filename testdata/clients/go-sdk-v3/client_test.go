package gosdkv3

import (
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/auth/basic"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/sdkerr"
	dis "github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2"
)

// connect returns the SDK's client with a project that only this test uses.
func connect(t *testing.T, to *service) *dis.DisClient {
	t.Helper()
	return connectAs(t, to, basic.NewCredentialsBuilder().WithAk(accessKey).WithSk(secretKey).WithProjectId(project(t)))
}

func connectAs(t *testing.T, to *service, builder *basic.CredentialsBuilder) *dis.DisClient {
	t.Helper()
	credentials, err := builder.SafeBuild()
	if err != nil {
		t.Fatal(err)
	}
	client, err := dis.DisClientBuilder().WithEndpoint(to.url).WithCredential(credentials).SafeBuild()
	if err != nil {
		t.Fatal(err)
	}
	return dis.NewDisClient(client)
}

// projects holds the project of each test that has asked for one.
var projects sync.Map

func project(t *testing.T) string {
	id, _ := projects.LoadOrStore(t, strings.ReplaceAll(t.Name(), "/", "-")+"-"+rand.Text()[:6])
	return id.(string)
}

// outcomes says for each call of the SDK which outcomes the tests have seen.
var outcomes struct {
	sync.Mutex
	answered, refused map[string]bool
}

// succeed makes a call that must be answered with that status.
func succeed[Q, R any](t *testing.T, status int, do func(*Q) (*R, error), request *Q) *R {
	t.Helper()
	answer, err := do(request)
	if err != nil {
		t.Fatalf("%s: %v", nameOf(do), err)
	}
	if got := reflect.ValueOf(answer).Elem().FieldByName("HttpStatusCode").Int(); got != int64(status) {
		t.Errorf("%s: HTTP status %d, want %d", nameOf(do), got, status)
	}
	note(&outcomes.answered, nameOf(do))
	return answer
}

// refuse makes a call that must be refused with HTTP status 400, the status of
// nearly all errors.
func refuse[Q, R any](t *testing.T, code, message string, do func(*Q) (*R, error), request *Q) {
	t.Helper()
	refuseWith(t, 400, code, message, do, request)
}

// refuseWith makes a call that must be refused with that status and code, and a
// message that contains the text.
func refuseWith[Q, R any](t *testing.T, status int, code, message string, do func(*Q) (*R, error), request *Q) {
	t.Helper()
	_, err := do(request)
	note(&outcomes.refused, nameOf(do))
	checkRefusal(t, nameOf(do), err, status, code, message)
}

func checkRefusal(t *testing.T, call string, err error, status int, code, message string) {
	t.Helper()
	var refusal *sdkerr.ServiceResponseError
	if !errors.As(err, &refusal) {
		t.Errorf("%s: got %v, want %s", call, err, code)
		return
	}
	if refusal.StatusCode != status || refusal.ErrorCode != code {
		t.Errorf("%s: got %d %s, want %d %s: %s", call, refusal.StatusCode, refusal.ErrorCode, status, code, refusal.ErrorMessage)
	}
	if !strings.Contains(refusal.ErrorMessage, message) {
		t.Errorf("%s: message %q, want one with %q", call, refusal.ErrorMessage, message)
	}
	if refusal.ErrorMessage == "" || refusal.RequestId == "" {
		t.Errorf("%s: %+v lacks a message or a request id", call, refusal)
	}
}

func note(set *map[string]bool, call string) {
	outcomes.Lock()
	defer outcomes.Unlock()
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[call] = true
}

// nameOf is the name of a method value of the SDK's client.
func nameOf(method any) string {
	name := runtime.FuncForPC(reflect.ValueOf(method).Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], "-fm")
}

// uncalled names the calls of the SDK that no test has made with success, and
// those that no test has seen refused.
func uncalled() error {
	var missing []error
	client := reflect.TypeFor[*dis.DisClient]()
	for i := range client.NumMethod() {
		name := client.Method(i).Name
		if strings.HasSuffix(name, "Invoker") {
			continue // the same call in two steps
		}
		if !outcomes.answered[name] {
			missing = append(missing, fmt.Errorf("no test makes the call %s", name))
		}
		if !outcomes.refused[name] {
			missing = append(missing, fmt.Errorf("no test sees the call %s refused", name))
		}
	}
	return errors.Join(missing...)
}
