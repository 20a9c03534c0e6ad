package dis

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// maxErrorText bounds how much of an answer that is not DIS's goes into an error.
const maxErrorText = 300

// answer is the body of a response in pooled memory.
type answer struct {
	bytes  []byte
	memory *[]byte
}

func (a answer) release() { recycle(a.memory, a.bytes) }

// readAnswer reads a body to its end, so that the connection can be used again.
func readAnswer(response *http.Response, limit int64) (answer, error) {
	if response.ContentLength > limit {
		return answer{}, fmt.Errorf("%w: %d bytes announced, %d allowed", ErrAnswerTooLarge, response.ContentLength, limit)
	}
	memory := buffers.Get().(*[]byte)
	content := (*memory)[:0]
	if response.ContentLength > 0 {
		content = slices.Grow(content, int(response.ContentLength))
	}
	for {
		if len(content) == cap(content) {
			content = slices.Grow(content, max(512, len(content)))
		}
		n, err := response.Body.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		if int64(len(content)) > limit {
			err = fmt.Errorf("%w: more than %d bytes", ErrAnswerTooLarge, limit)
		}
		if errors.Is(err, io.EOF) {
			return answer{bytes: content, memory: memory}, nil
		}
		if err != nil {
			recycle(memory, content)
			return answer{}, fmt.Errorf("read answer: %w", err)
		}
	}
}

// judge turns a complete answer into the call's result or its failure.
func judge(call *request, response *http.Response, content []byte) (failure *Error, mayPass bool) {
	if response.StatusCode >= 300 {
		failure = answered(call, response)
		failure.Code, failure.Message = errorText(content)
		// A code of the 4xxx family is a refusal whatever the HTTP status.
		failure.NotProcessed = failure.NotProcessed || strings.HasPrefix(failure.Code, "DIS.4")
		return failure, response.StatusCode >= 500 || failure.Throttled()
	}
	if call.decode == nil {
		return nil, false
	}
	if err := call.decode(content); err != nil {
		failure = answered(call, response)
		failure.Err = fmt.Errorf("decode answer: %w", err)
		return failure, false
	}
	return nil, false
}

func answered(call *request, response *http.Response) *Error {
	status := response.StatusCode
	return &Error{
		Operation:    call.operation,
		HTTPStatus:   status,
		RequestID:    response.Header.Get(headerRequestID),
		NotProcessed: status >= 300 && status < 500,
	}
}

// errorText finds code and message in the two forms that DIS and the gateways
// in front of it use; other bodies become the message, shortened.
func errorText(content []byte) (code, message string) {
	var both struct {
		wire.ErrorBody
		Code wire.Text `json:"code"`
	}
	err := json.Unmarshal(content, &both)
	code = firstSet(both.ErrorCode, both.ErrorCodeV3, string(both.Code))
	message = firstSet(both.Message, both.ErrorMsgV3)
	if err != nil || (code == "" && message == "") {
		return "", shortened(content)
	}
	return code, message
}

func firstSet(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// shortened gives the beginning of a body as one line of valid text.
func shortened(content []byte) string {
	if len(content) > maxErrorText {
		content = content[:maxErrorText]
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(content), "")), " ")
}
