//go:build tools

// Package programs names Helm, with which tests install the chart, so that `go mod tidy` keeps its modules in go.mod.
package programs

import _ "helm.sh/helm/v4/cmd/helm"
