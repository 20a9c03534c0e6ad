// Package deploy checks the files of deploy/ against the types of Kubernetes and
// of Compose. It is a module of its own, so that the gateway does not depend on
// them.
package deploy
