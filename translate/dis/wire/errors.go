package wire

// ErrorBody is the JSON body of a failed request. DIS itself and the Java SDK
// use errorCode and message; the newer API pages and the Go SDK v3 use
// error_code and error_msg. A server that fills all four serves every SDK; a
// client must accept either pair.
type ErrorBody struct {
	ErrorCode   string `json:"errorCode,omitempty"`
	Message     string `json:"message,omitempty"`
	ErrorCodeV3 string `json:"error_code,omitempty"`
	ErrorMsgV3  string `json:"error_msg,omitempty"`
}

// The error codes of the API that this project produces or reacts to. HTTP
// status is 400 unless the comment says otherwise; authentication errors are
// 401 or 441, depending on the document.
const (
	CodeAuthFailed           = "DIS.4100" // 441: authorisation error
	CodeAuthHeaderEmpty      = "DIS.4101" // 441: Authorization header empty
	CodeAuthHeaderMalformed  = "DIS.4102" // 441: Authorization header cannot be parsed
	CodeDateEmpty            = "DIS.4103" // 441: X-Sdk-Date empty
	CodeDateMalformed        = "DIS.4104" // 441: X-Sdk-Date cannot be parsed
	CodeDateSkewed           = "DIS.4105" // 441: X-Sdk-Date outside the accepted window
	CodeAccessKeyMissing     = "DIS.4106" // 441: AK missing
	CodeAccessKeyInvalid     = "DIS.4107" // 441: AK wrong, deleted or expired
	CodeServiceMissing       = "DIS.4108" // 441: service name missing in the credential
	CodeAuthFieldsMissing    = "DIS.4109" // 441: Credential, SignedHeaders or Signature missing
	CodeSignatureEmpty       = "DIS.4110" // 441: Signature or SignedHeaders empty
	CodeRegionInvalid        = "DIS.4111" // 441: region in the credential invalid
	CodeSignatureMismatch    = "DIS.4112" // 441: the signature does not match
	CodeTokenEmpty           = "DIS.4113" // 441: token empty
	CodeTokenInvalid         = "DIS.4114" // 441: token invalid
	CodeForbidden            = "DIS.4116" // 403: no permission, or arrears
	CodeProjectInvalid       = "DIS.4117" // invalid project id
	CodeInvalidRequest       = "DIS.4200" // invalid request
	CodeInvalidPartitionID   = "DIS.4201" // invalid partition_id
	CodeEmptyRequest         = "DIS.4202" // empty request
	CodeInvalidPeriod        = "DIS.4203" // invalid monitoring period
	CodePeriodTooLong        = "DIS.4204" // monitoring period above MaxMetricsWindow
	CodeStreamNotRunning     = "DIS.4205" // stream not running
	CodeInvalidMRSCluster    = "DIS.4208" // invalid MRS cluster
	CodeInvalidLabel         = "DIS.4209" // invalid metrics label
	CodeInvalidCursorType    = "DIS.4215" // invalid cursor type
	CodeInvalidSequence      = "DIS.4216" // invalid sequence_number
	CodeInvalidCursor        = "DIS.4217" // invalid partition cursor
	CodeSequenceOutOfRange   = "DIS.4224" // sequence number out of range
	CodeCursorExpired        = "DIS.4225" // cursor expired
	CodeRecordExpired        = "DIS.4226" // record expired while reading
	CodeRequestError         = "DIS.4300" // request error, also "timestamp is expired"
	CodeStreamNotFound       = "DIS.4301" // stream does not exist
	CodePartitionNotFound    = "DIS.4302" // partition does not exist
	CodeThrottled            = "DIS.4303" // traffic control limit, request or record
	CodeTooManyStreamCalls   = "DIS.4305" // too many stream requests
	CodeStreamExists         = "DIS.4307" // stream already exists
	CodeQuotaExceeded        = "DIS.4308" // insufficient partition quota
	CodeIPBlocked            = "DIS.4309" // too many failed attempts
	CodeOBSAccess            = "DIS.4310" // OBS access failed
	CodePartitionExpired     = "DIS.4319" // partition expired
	CodeAppQuotaExceeded     = "DIS.4329" // app quota exceeded
	CodeAppExists            = "DIS.4330" // app already exists
	CodeAppInUse             = "DIS.4331" // app in use
	CodeAppNotFound          = "DIS.4332" // app not found
	CodeConsumerQuota        = "DIS.4339" // consumer quota exceeded
	CodeInvalidAgency        = "DIS.4335" // invalid IAM agency
	CodeInvalidHDFSPath      = "DIS.4336" // invalid HDFS path
	CodeDLIDatabase          = "DIS.4337" // DLI database does not exist
	CodeDLITable             = "DIS.4338" // DLI table does not exist
	CodeInvalidCloudTable    = "DIS.4341" // invalid CloudTable cluster
	CodeInvalidDWSCluster    = "DIS.4350" // invalid DWS cluster
	CodeTransferNotFound     = "DIS.4354" // transfer task does not exist
	CodeTransferExists       = "DIS.4355" // transfer task already exists
	CodeTransferQuota        = "DIS.4357" // more than MaxTransferTasks
	CodeTransferDataType     = "DIS.4358" // the stream's data type does not allow that task
	CodeInvalidSchema        = "DIS.4360" // invalid data schema
	CodeNoCheckpoint         = "DIS.4375" // app has no checkpoint
	CodeTagLimit             = "DIS.4601" // more than MaxTags
	CodeTagResourceNotFound  = "DIS.4603" // tag: the stream does not exist
	CodeTagNotFound          = "DIS.4604" // tag: the key does not exist
	CodeTagInvalidAction     = "DIS.4605" // tag: invalid action
	CodeRebalanceInProgress  = "DIS.4701" // group rebalance in progress
	CodeMemberNotFound       = "DIS.4702" // group member does not exist
	CodeIllegalGeneration    = "DIS.4703" // stale generation
	CodeInternal             = "DIS.5000" // 500: system error
	CodeRecordInternal       = "DIS.5250" // system error of one record
	retriableRecordCodeGroup = "DIS.5"
)

// RecordRetriable reports whether a record that DIS refused with this code
// inside an HTTP 200 is worth sending again: throttling and system errors.
func RecordRetriable(code string) bool {
	return code == CodeThrottled || (len(code) > len(retriableRecordCodeGroup) && code[:len(retriableRecordCodeGroup)] == retriableRecordCodeGroup)
}
