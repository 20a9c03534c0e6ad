GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
LDFLAGS = -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: build help static dev test race lint check mutants limits bench image clean

build: ## the binary, in bin/
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/kafka-dis-gateway ./cmd/kafka-dis-gateway

help: ## this list
	@sed -n 's/^\([a-z]*\): ## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

static: ## the binary of the container image: no C library
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/kafka-dis-gateway ./cmd/kafka-dis-gateway

dev: ## the gateway with an embedded DIS
	$(GO) run ./cmd/kafka-dis-gateway dev

test: ## every test; clients that are not installed are left out, see testdata/clients/install
	$(GO) test ./...

race: ## the same with the race detector, also in the binaries that tests build
	GOFLAGS="$(GOFLAGS) -race" $(GO) test ./...

lint: ## formatting, vet, staticcheck
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(STATICCHECK) ./...

check: ## every promise under faults, restarts and cut connections; CHECK='-seed 17' for one seed, '-evidence DIR' for where failed ones leave what was seen
	$(GO) run ./checker $(CHECK)

limits: ## clients with default settings against the documented limits of DIS, on a machine that does nothing else; LIMITS_GOALS=shown judges no times
	LIMITS_SECONDS=60 REQUIRE_CLIENTS=1 $(GO) test ./e2e -run '^TestDocumentedLimits$$' -count=1 -timeout 10m -v

mutants: ## the checks notice when a promise is broken on purpose; MUTANTS='-only NAME' for one
	$(GO) run ./testdata/mutants $(MUTANTS)

bench: ## what the gateway costs, see docs/performance.md; BENCH=-short for a short run
	$(GO) run ./bench $(BENCH)
	$(GO) test ./translate/record -run '^$$' -bench Raw -benchtime 0.5s

image: ## the container image
	docker build --build-arg VERSION=$(VERSION) --build-arg COMMIT=$(COMMIT) -t kafka-dis-gateway .

clean: ## removes bin/
	rm -rf bin
