package main

import (
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// disAccessSettings say who calls DIS and in which form. What a real DIS accepts
// depends on the region's gateway; the defaults are the forms of the DIS SDKs.
// Keys and tokens are no flags: arguments of a process are seen by everyone on
// the machine.
type disAccessSettings struct {
	DISCredentials      string `name:"dis-credentials" default:"auto" choices:"auto,environment,file,metadata" placeholder:"SOURCE" help:"Where the keys for DIS come from: environment (HUAWEICLOUD_SDK_AK, HUAWEICLOUD_SDK_SK), file, or metadata (the service of the cloud host, for a host with an agency). auto: the file if one is named, else the environment. Default: auto."`
	DISCredentialsFile  string `name:"dis-credentials-file" placeholder:"FILE" help:"YAML file with access_key, secret_key and, for temporary keys, security_token; read again when it changes."`
	DISMetadataEndpoint string `name:"dis-metadata-endpoint" default:"${metadata_endpoint}" placeholder:"URL" help:"Metadata service of the cloud host. Default: ${metadata_endpoint}."`
	DISTokenFile        string `name:"dis-token-file" placeholder:"FILE" help:"File with an IAM token that is sent instead of a signature (X-Auth-Token); read again when it changes."`
	DISSigning          string `name:"dis-signing" default:"scoped" choices:"scoped,unscoped" placeholder:"SCHEME" help:"Signature of requests: scoped (as the DIS SDKs) or unscoped (as the v3 SDKs). Default: scoped."`
	DISRecordBody       string `name:"dis-record-body" default:"protobuf" choices:"protobuf,json" placeholder:"FORM" help:"Form in which records travel to and from DIS: protobuf (half the processor time) or json. Default: protobuf."`
	DISCompression      string `name:"dis-compression" default:"none" choices:"none,lz4,snappy,zstd" placeholder:"CODEC" help:"Compression of request bodies: none, lz4, snappy or zstd. Default: none."`
}

func (s disAccessSettings) credentials(logger zerolog.Logger) dis.CredentialsConfig {
	return dis.CredentialsConfig{
		Source: dis.CredentialsSource(s.DISCredentials), File: s.DISCredentialsFile,
		MetadataEndpoint: s.DISMetadataEndpoint, Logger: logger,
	}
}

// missingKeys names the variables without which the environment cannot be the
// source of the keys; none when it is not asked to be.
func (s disAccessSettings) missingKeys() []string {
	if s.DISTokenFile != "" || s.credentials(zerolog.Nop()).Chosen() != dis.CredentialsFromEnvironment {
		return nil
	}
	_, missing := dis.EnvironmentKeys()
	return missing
}

// check finds settings that contradict each other.
func (s disAccessSettings) check(found *problems) {
	chosen := s.credentials(zerolog.Nop()).Chosen()
	switch {
	case s.DISTokenFile != "" && s.DISCredentialsFile != "":
		found.setting("dis-token-file", errors.New("a token replaces keys: leave --dis-credentials-file out"))
	case chosen == dis.CredentialsFromFile && s.DISCredentialsFile == "":
		found.setting("dis-credentials", errors.New("the source file needs --dis-credentials-file"))
	case chosen != dis.CredentialsFromFile && s.DISCredentialsFile != "":
		found.setting("dis-credentials-file", fmt.Errorf("is not read while --dis-credentials is %s: give file or auto", chosen))
	default:
		s.checkSource(found, chosen)
	}
}

// checkSource opens the source of keys or tokens once.
func (s disAccessSettings) checkSource(found *problems, chosen dis.CredentialsSource) {
	setting := "dis-metadata-endpoint"
	switch {
	case s.DISTokenFile != "":
		setting = "dis-token-file"
	case chosen == dis.CredentialsFromFile:
		setting = "dis-credentials-file"
	case chosen == dis.CredentialsFromEnvironment:
		return // missingKeys has looked
	}
	if err := s.applyTo(new(dis.Config), zerolog.Nop()); err != nil {
		found.setting(setting, err)
	}
}

// identity is what an operator has to look at when DIS refuses who calls; empty for
// the environment, which is looked at first where nothing is said.
func (s disAccessSettings) identity() string {
	switch source := s.identitySource(); {
	case s.DISTokenFile != "":
		return "the token in " + source
	case s.credentials(zerolog.Nop()).Chosen() == dis.CredentialsFromFile:
		return "access_key and secret_key in " + source
	case s.credentials(zerolog.Nop()).Chosen() == dis.CredentialsFromMetadata:
		return "the agency of this host, whose keys come from " + source
	}
	return ""
}

// applyTo opens the source of keys or tokens and completes the configuration of
// the DIS client. The error names the file that cannot be used.
func (s disAccessSettings) applyTo(backend *dis.Config, logger zerolog.Logger) (err error) {
	backend.Signing = dis.Signing(s.DISSigning)
	backend.RecordBody = dis.RecordBody(s.DISRecordBody)
	backend.Compression = dis.Compression(s.DISCompression)
	backend.IdentitySource = s.identity()
	if s.DISTokenFile != "" {
		backend.Tokens, err = dis.FileToken(s.DISTokenFile, logger)
		return err
	}
	backend.Credentials, err = dis.NewCredentials(s.credentials(logger))
	return err
}
