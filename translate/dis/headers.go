package dis

// Headers of requests and answers. The names are in Go's canonical form, which is
// how they travel; header names have no case.
const (
	headerAuthorization   = "Authorization"
	headerAuthToken       = "X-Auth-Token"
	headerContentType     = "Content-Type"
	headerContentEncoding = "Content-Encoding"
	headerAcceptEncoding  = "Accept-Encoding"
	headerDate            = "X-Sdk-Date"
	headerProject         = "X-Project-Id"
	headerSecurityToken   = "X-Security-Token"
	headerLZ4Length       = "X-Dis-Lz4-Content-Length"
	headerZstdLength      = "X-Dis-Zstd-Content-Length"
	headerRequestID       = "X-Request-Id"
	headerRetryAfter      = "Retry-After"
	headerAnswerDate      = "Date"
)
