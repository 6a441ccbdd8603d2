# Few verbs; CI calls the same ones. Everything a target needs is installed,
# pinned, into .local/ or a module cache.

PORT ?= 8787
export GOFLAGS ?= -buildvcs=false

.PHONY: run demo test check lint supply sbom contracts deployment conformance clients build bench load chaos cost eval soak fuzz deploy clean

run: ## the whole system on this machine; FRESH=1 starts over, PORT=n moves it
	@go run ./infra/local --port $(PORT) $(if $(FRESH),--fresh)

demo: ## the money path played through on a stack of its own, as a transcript
	@go run ./infra/transcript

test: ## every test of every module
	go vet ./...
	go test -timeout 9m ./...
	cd infra/oracle && go test ./...
	cd infra/clients && go test ./...
	cd infra/bench && go test ./...

check: lint supply contracts deployment conformance clients ## everything that can refuse

lint:
	@test -z "$$(gofmt -l functions infra shared)" || { gofmt -l functions infra shared; echo "gofmt: run gofmt -w on these"; exit 1; }
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	go mod tidy -diff
	cd infra/oracle && go mod tidy -diff
	cd infra/clients && go mod tidy -diff
	cd infra/bench && go mod tidy -diff

supply: ## licences of what is linked, and known vulnerabilities; WRITE=1 rewrites docs/licences.md
	go run ./infra/supply licences $(if $(WRITE),-write)
	$(if $(WRITE),,go run ./infra/supply vulnerabilities)

contracts: ## compile, test and attack the contracts
	infra/contracts/check

deployment: ## template, build for arm64, sizes, and the events under the emulator of AWS
	infra/deploy/check
	infra/deploy/emulator
	infra/deploy/reproduce

conformance: ## the official suite, against the server and against a fixture catalogue
	infra/clients/conformance

clients: ## real clients, each connecting, reading, completing and being refused
	infra/clients/run

bench: ## ratios against floors and peers, one run; WRITE=1 rewrites docs/performance.md
	infra/bench/run $(if $(WRITE),--write)

load: ## 20 companies and 200 agents for ten minutes, then one that floods; WRITE=1 rewrites docs/load.md
	@go run ./infra/load $(if $(WRITE),-write)

cost: ## what each kind of request uses of AWS, and a million of them cost; WRITE=1 rewrites docs/cost.md
	@go run ./infra/cost $(if $(WRITE),-write)

eval: ## the question set over the demo company, answers held against the rows; ALL=1 shows what is not right
	@go run ./infra/eval $(if $(ALL),-all)

chaos: ## faults under a running stack, then what was acknowledged against what is there; ONLY=a,b SEED=n, WRITE=1 rewrites docs/chaos.md
	@go run ./infra/chaos $(if $(ONLY),-only $(ONLY)) $(if $(SEED),-seed $(SEED)) $(if $(WRITE),-write)

soak: ## the long forms of tests: a file of 100,000 entries, questions over a million rows, 3,000 steps of many agents
	go test -timeout 30m ./shared/domain/ingest -run 'TestLargeFile' -v -entries 100000
	go test -timeout 60m ./shared/domain/question -run 'TestScale' -v -scale 1000000
	PROPOSALS_STEPS=3000 go test -timeout 30m ./shared/domain/proposals -run 'TestCapsHold' -v

fuzz: ## every fuzz target for FUZZTIME (10m); what it finds is kept as a seed in testdata/fuzz
	infra/fuzz $(or $(FUZZTIME),10m)

build: ## the functions as they are deployed, and the operator's program
	@mkdir -p .local/build
	@for f in functions/*/; do n=$$(basename $$f); \
	  CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -trimpath -tags lambda.norpc -ldflags "-s -w" -o .local/build/$$n/bootstrap ./$$f && ls -l .local/build/$$n/bootstrap; done
	go build -trimpath -o .local/build/robotmoney ./infra/robotmoney

sbom: build ## a bill of materials (CycloneDX) of each function, beside it in .local/build
	go run ./infra/supply sbom .local/build

deploy: ## to the environment ENV of samconfig.toml (dev, prod)
	infra/deploy/sam build && infra/deploy/sam deploy --config-env $(or $(ENV),dev)

clean: ## the stack's state; what is installed stays
	rm -rf .local/state .local/events.jsonl* .local/stack.json
