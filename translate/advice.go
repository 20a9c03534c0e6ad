package translate

import "slices"

// adminCalls change something on behalf of a person, who can do something about
// a refusal. The other texts are for logs and programs.
var adminCalls = []Call{CallCreateTopic, CallDeleteTopic, CallCreatePartitions, CallAlterConfigs}

// advice is what that person can do, by the name of the row of the table.
var advice = map[string]string{
	"topic not ready":             "try again in a few seconds",
	"throttled":                   "try again in a while",
	"scaling limit":               "the API reference allows 5 changes of the number of partitions an hour, and none within an hour of one; wait, and then ask for all that are wanted at once",
	"stream not running":          "wait until the stream runs; a frozen one runs again when the account has no arrears",
	"stream exists":               "use the topic that is there, or choose another name",
	"quota":                       "delete what is not used, or ask for a larger DIS quota in the console (50 COMMON and 10 ADVANCED partitions in a project, if nobody asked)",
	"data schema":                 "the data type of a stream with a data schema is changed in the DIS console",
	"no permission":               "give the user of the gateway's keys the DIS permission that this needs, and look whether the account has arrears",
	"credentials refused for now": "DIS has accepted these keys before; if they are not being changed now, look at the keys, the token and the clock of the gateway",
	"credentials refused":         "look at the keys, the token, the project, the region and the clock of the gateway",
	"not processed":               "nothing has changed; try again",
	"unknown outcome":             "it may have been done all the same: look before you try again",
}

// advised is the text of an error, with what to do where a person reads it.
func advised(call Call, row string, err error) string {
	text := err.Error()
	if what := advice[row]; what != "" && slices.Contains(adminCalls, call) {
		text += "; " + what
	}
	return text
}
