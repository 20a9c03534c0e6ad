package main

import (
	"io"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway/loglimit"
)

// logSettings say how much is logged and in which form. In normal operation
// nothing is logged at the level info between the start and the stop, except
// what clients do to topics.
type logSettings struct {
	LogLevel  string `default:"info" choices:"trace,debug,info,warn,error" help:"Least severe level to log: trace, debug, info, warn or error. Default: info."`
	LogFormat string `default:"${log_format}" choices:"json,console" help:"json (one object a line) or console (for people). Default: ${log_format}."`
}

// Times are in milliseconds: requests and calls of DIS are told apart by that much.
func init() { zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00" }

// logger writes to w, normally stderr. What repeats itself is limited; flush writes
// at the end what is left to be told of that.
func (s logSettings) logger(w io.Writer) (logger zerolog.Logger, flush func()) {
	if s.LogFormat == "console" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly, NoColor: true}
	}
	level, err := zerolog.ParseLevel(s.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	limited := loglimit.New(w)
	return zerolog.New(limited).Level(level).With().Timestamp().Logger(), limited.Flush
}
