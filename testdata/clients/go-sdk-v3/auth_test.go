package gosdkv3

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/auth/basic"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/config"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/region"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/core/request"
	dis "github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

const authFailed = 401

func keys(t *testing.T, accessKey, secretKey string) *basic.CredentialsBuilder {
	return basic.NewCredentialsBuilder().WithAk(accessKey).WithSk(secretKey).WithProjectId(project(t))
}

// derived makes the SDK sign with a key that is derived for the region.
func derived(t *testing.T, credentials *basic.CredentialsBuilder, adjust ...func(*core.HcHttpClientBuilder)) *dis.DisClient {
	t.Helper()
	always := func(*request.DefaultHttpRequest) bool { return true }
	built, err := credentials.WithDerivedPredicate(always).SafeBuild()
	if err != nil {
		t.Fatal(err)
	}
	builder := dis.DisClientBuilder().WithRegion(region.NewRegion("cn-north-4", unlimited.url)).
		WithDerivedAuthServiceName("dis").WithCredential(built)
	for _, change := range adjust {
		change(builder)
	}
	client, err := builder.SafeBuild()
	if err != nil {
		t.Fatal(err)
	}
	return dis.NewDisClient(client)
}

// Whatever a call looks like on the wire, its signature is verified.
func useSigned(t *testing.T, c *dis.DisClient) {
	t.Helper()
	createStream(t, c, "s", 1)
	put(t, c, "s", "ü")
	equal(t, "records", len(read(t, c, "s", "0")), 1)
	refuse(t, "DIS.4301", "", c.ShowStream, &model.ShowStreamRequest{StreamName: "näme with odd:characters*~"})
	succeed(t, 200, c.ListStreams, &model.ListStreamsRequest{StartStreamName: new("a b&c=d/ü+~*")})
	succeed(t, 204, c.DeleteStream, &model.DeleteStreamRequest{StreamName: "s"})
}

func TestSigned(t *testing.T) {
	t.Parallel()
	useSigned(t, connect(t, &unlimited))
}

func TestSignedWithDerivedKey(t *testing.T) {
	t.Parallel()
	useSigned(t, derived(t, keys(t, accessKey, secretKey)))
}

func TestSignedWithTemporaryKeys(t *testing.T) {
	t.Parallel()
	useSigned(t, connectAs(t, &unlimited, keys(t, accessKey, secretKey).WithSecurityToken("token+of/an=hour")))
}

func TestWrongKeys(t *testing.T) {
	t.Parallel()
	list := &model.ListStreamsRequest{}
	refuseWith(t, authFailed, "DIS.4107", "", connectAs(t, &unlimited, keys(t, "nobody", secretKey)).ListStreams, list)
	refuseWith(t, authFailed, "DIS.4112", "", connectAs(t, &unlimited, keys(t, accessKey, "wrong")).ListStreams, list)
	refuseWith(t, authFailed, "DIS.4107", "", derived(t, keys(t, "nobody", secretKey)).ListStreams, list)
	refuseWith(t, authFailed, "DIS.4112", "", derived(t, keys(t, accessKey, "wrong")).ListStreams, list)
	// The one call that nothing else can be wrong with.
	refuseWith(t, authFailed, "DIS.4112", "", connectAs(t, &unlimited, keys(t, accessKey, "wrong")).ListTags, &model.ListTagsRequest{})
}

// tamper changes requests between the SDK and the service.
type tamper func(*http.Request)

func (change tamper) RoundTrip(r *http.Request) (*http.Response, error) {
	changed := r.Clone(r.Context())
	change(changed)
	return http.DefaultTransport.RoundTrip(changed)
}

func TestTamperedRequests(t *testing.T) {
	t.Parallel()
	tests := map[string]tamper{
		"path":      func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, "/streams", "/apps", 1) },
		"query":     func(r *http.Request) { r.URL.RawQuery = "limit=3" },
		"method":    func(r *http.Request) { r.Method = http.MethodPut },
		"header":    func(r *http.Request) { r.Header.Set("User-Agent", "another") },
		"signature": func(r *http.Request) { r.Header.Set("Authorization", r.Header.Get("Authorization")+"0") },
	}
	for name, change := range tests {
		through := func(b *core.HcHttpClientBuilder) {
			b.WithHttpConfig(config.DefaultHttpConfig().WithHttpRoundTripper(change))
		}
		t.Run(name, func(t *testing.T) {
			c := derived(t, keys(t, accessKey, secretKey), through)
			refuseWith(t, authFailed, "DIS.4112", "", c.ListStreams, &model.ListStreamsRequest{Limit: new(int32(2))})
		})
	}
}

// What is wrong with the headers of a request is said by a code of its own.
func TestAuthorizationRefused(t *testing.T) {
	t.Parallel()
	const name = "SDK-HMAC-SHA256 "
	now := time.Now().UTC().Format("20060102T150405Z")
	signed := "Access=dev, SignedHeaders=x-sdk-date, Signature=00"
	tests := []struct {
		code    string
		headers map[string]string
	}{
		{"DIS.4101", map[string]string{"Authorization": "", "X-Sdk-Date": now}},
		{"DIS.4102", map[string]string{"Authorization": "nonsense", "X-Sdk-Date": now}},
		{"DIS.4103", map[string]string{"Authorization": name + signed}},
		{"DIS.4104", map[string]string{"Authorization": name + signed, "X-Sdk-Date": "yesterday"}},
		{"DIS.4106", map[string]string{"Authorization": name + "Access=, SignedHeaders=x-sdk-date, Signature=00", "X-Sdk-Date": now}},
		{"DIS.4108", map[string]string{"Authorization": name + "Credential=dev/" + now[:8] + "/cn-north-4//sdk_request, SignedHeaders=x-sdk-date, Signature=00", "X-Sdk-Date": now}},
		{"DIS.4109", map[string]string{"Authorization": name + "SignedHeaders=x-sdk-date, Signature=00", "X-Sdk-Date": now}},
		{"DIS.4109", map[string]string{"Authorization": name + "Access=dev, SignedHeaders=x-sdk-date", "X-Sdk-Date": now}},
		{"DIS.4110", map[string]string{"Authorization": name + "Access=dev, SignedHeaders=, Signature=00", "X-Sdk-Date": now}},
		{"DIS.4110", map[string]string{"Authorization": name + "Access=dev, SignedHeaders=x-sdk-date, Signature=", "X-Sdk-Date": now}},
		{"DIS.4112", map[string]string{"Authorization": name + signed, "X-Sdk-Date": now}},
		{"DIS.4113", map[string]string{"X-Auth-Token": ""}},
		{"DIS.4114", map[string]string{"X-Auth-Token": "forged"}},
		// The SDK signs with the date that it finds.
		{"DIS.4105", map[string]string{"X-Sdk-Date": time.Now().Add(-16 * time.Minute).UTC().Format("20060102T150405Z")}},
		{"DIS.4105", map[string]string{"X-Sdk-Date": time.Now().Add(16 * time.Minute).UTC().Format("20060102T150405Z")}},
	}
	c := connect(t, &unlimited)
	for _, test := range tests {
		call := c.ListStreamsInvoker(&model.ListStreamsRequest{})
		call.AddHeaders(test.headers)
		_, err := call.Invoke()
		checkRefusal(t, "ListStreams", err, authFailed, test.code, "")
	}
}
