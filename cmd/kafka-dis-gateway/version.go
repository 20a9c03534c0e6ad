package main

import (
	"fmt"
	"io"
	"runtime/debug"
)

// Set by the linker when a release is built: -X main.version=v1.2.3 and
// -X main.commit=<hash>. Otherwise the build information of the Go tool is used.
var (
	version = ""
	commit  = ""
)

type versionCommand struct{}

func (versionCommand) check(*problems) {}

func (versionCommand) run(_ *signals, stdout, _ io.Writer) error {
	build := currentBuild()
	_, err := fmt.Fprintf(stdout, "kafka-dis-gateway %s\ncommit %s\n%s\n", build.version, build.commit, build.goVersion)
	return err
}

type buildDescription struct{ version, commit, goVersion string }

// currentBuild describes the running binary; what is not known is "unknown".
func currentBuild() buildDescription {
	b := buildDescription{version: version, commit: commit, goVersion: "unknown"}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.goVersion = info.GoVersion
		if b.version == "" {
			b.version = info.Main.Version
		}
		if b.commit == "" {
			b.commit = commitOf(info.Settings)
		}
	}
	if b.version == "" {
		b.version = "unknown"
	}
	if b.commit == "" {
		b.commit = "unknown"
	}
	return b
}

func commitOf(settings []debug.BuildSetting) string {
	hash, modified := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			hash = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " (modified)"
		}
	}
	if hash == "" {
		return ""
	}
	return hash + modified
}
