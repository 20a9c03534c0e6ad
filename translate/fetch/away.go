package fetch

import (
	"errors"
	"net/http"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// tells reports whether a failure is news for who reads the log: that of one stream
// or partition is; of an outage, which every one of them will notice, the first is.
func (e *Engine) tells(err error) bool {
	return !concernsAll(err) || !e.away.Swap(true)
}

// concernsAll reports whether a call failed for what has nothing to do with what was
// asked: DIS does not answer, is in trouble, or refuses the gateway as such.
func concernsAll(err error) bool {
	var failure *dis.Error
	if !errors.As(err, &failure) {
		return false
	}
	return failure.HTTPStatus == 0 && failure.Code == "" || failure.HTTPStatus >= http.StatusInternalServerError || translate.CredentialsRefused(err)
}
