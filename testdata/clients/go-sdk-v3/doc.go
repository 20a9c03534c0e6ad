// Package gosdkv3 runs the official Go SDK of Huawei Cloud, unmodified, against
// the embedded DIS: every call of its package services/dis/v2, what it returns
// and what the service documents as its errors.
//
// It is a module of its own, so that the SDK and its dependencies stay out of
// the product's. The tests start the command embedded-dis; the variable
// KAFKA_DIS_GATEWAY names its binary, without it the tests build one. Each test
// has a project of its own and so shares no stream and no app with another.
package gosdkv3
