package dis

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// maxErrorText bounds how much of an answer that is not DIS's goes into an error.
const maxErrorText = 300

// answer is the body of a response.
type answer struct {
	bytes  []byte
	memory *[]byte // nil when the result of the call keeps the bytes
}

func (a answer) release() {
	if a.memory != nil {
		answerBodies.recycle(a.memory, a.bytes)
	}
}

// readAnswer reads the body of an answer to a call to its end.
func (c *Client) readAnswer(call *request, response *http.Response) (answer, error) {
	limit := c.cfg.MaxResponseBytes
	if !call.keepsProto || !isProtobuf(response) {
		memory := answerBodies.get()
		content, err := readBody(response, (*memory)[:0], limit)
		a := answer{content, memory}
		if err != nil {
			a.release()
		}
		return a, err
	}
	if call.keptIn == nil {
		content, err := readBody(response, nil, limit)
		return answer{bytes: content}, err
	}
	content, err := readBody(response, (*call.keptIn)[:0], limit)
	*call.keptIn = content
	return answer{bytes: content}, err
}

// readBody appends a body to content, to its end, so that the connection can be
// used again.
func readBody(response *http.Response, content []byte, limit int64) ([]byte, error) {
	if response.ContentLength > limit {
		return content, fmt.Errorf("%w: %d bytes announced, %d allowed", ErrAnswerTooLarge, response.ContentLength, limit)
	}
	if response.ContentLength > 0 {
		content = slices.Grow(content, int(response.ContentLength)+1) // the end shows without growing
	}
	for {
		if len(content) == cap(content) {
			content = slices.Grow(content, max(4<<10, len(content)))
		}
		n, err := response.Body.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		if int64(len(content)) > limit {
			err = tooLong(limit)
		}
		if errors.Is(err, io.EOF) {
			return content, nil
		}
		if err != nil {
			return content, fmt.Errorf("read answer: %w", err)
		}
	}
}

// judge turns a complete answer into the call's result or its failure, whose text hide
// has seen.
func judge(call *request, response *http.Response, content []byte, limit int64, hide func([]byte) []byte) (failure *Error, mayPass bool) {
	content, undecodable := decompressed(content, response.Header, limit)
	if response.StatusCode >= 300 {
		failure = answered(call, response)
		failure.Err = undecodable // the status says what matters
		failure.RetryAfter = retryAfter(response)
		failure.Code, failure.Message = errorText(hide(content))
		failure.Message = string(hide([]byte(failure.Message))) // JSON may write a text in several ways
		failure.NotProcessed = failure.NotProcessed || isRefusal(failure.Code)
		return failure, response.StatusCode >= 500 || failure.Throttled()
	}
	decode := call.decode
	if call.decodeProto != nil && isProtobuf(response) {
		decode = call.decodeProto
	}
	if decode == nil {
		return nil, false
	}
	err := undecodable
	if err == nil {
		err = decode(content)
	}
	if err != nil {
		failure = answered(call, response)
		failure.Err = fmt.Errorf("decode answer: %w", err)
		return failure, false
	}
	return nil, false
}

// isRefusal holds for the codes of the 4xxx family, whatever the HTTP status.
func isRefusal(code string) bool { return strings.HasPrefix(code, "DIS.4") }

// isProtobuf tells the form of an answer by its own word: errors are JSON always,
// and a service that knows no protobuf may answer a read in JSON.
func isProtobuf(response *http.Response) bool {
	return strings.HasPrefix(strings.ToLower(response.Header.Get(headerContentType)), "application/x-protobuf")
}

// retryAfter reads the header of that name, seconds or a date, where it counts.
func retryAfter(response *http.Response) time.Duration {
	if response.StatusCode != http.StatusTooManyRequests && response.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	text := response.Header.Get(headerRetryAfter)
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(date))
	}
	return 0
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
	code = cmp.Or(both.ErrorCode, both.ErrorCodeV3, string(both.Code))
	message = cmp.Or(both.Message, both.ErrorMsgV3)
	if err != nil || (code == "" && message == "") {
		return "", shortened(content)
	}
	return code, message
}

// shortened gives the beginning of a body as one line of valid text.
func shortened(content []byte) string {
	if len(content) > maxErrorText {
		content = content[:maxErrorText]
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(content), "")), " ")
}
