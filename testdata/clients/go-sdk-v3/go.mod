module github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/go-sdk-v3

go 1.26

require github.com/huaweicloud/huaweicloud-sdk-go-v3 v0.1.207

require (
	github.com/fatih/color v1.10.0 // indirect
	github.com/goccy/go-yaml v1.9.8 // indirect
	github.com/json-iterator/go v1.1.13-0.20220915233716-71ac16282d12 // indirect
	github.com/mattn/go-colorable v0.1.8 // indirect
	github.com/mattn/go-isatty v0.0.12 // indirect
	github.com/modern-go/concurrent v0.0.0-20180228061459-e0a39a4cb421 // indirect
	github.com/modern-go/reflect2 v1.0.2 // indirect
	github.com/tjfoc/gmsm v1.4.1 // indirect
	go.mongodb.org/mongo-driver v1.13.1 // indirect
	golang.org/x/sys v0.0.0-20220722155257-8c9f86f7a55f // indirect
	golang.org/x/xerrors v0.0.0-20200804184101-5ec99f83aff1 // indirect
	gopkg.in/ini.v1 v1.67.0 // indirect
)
