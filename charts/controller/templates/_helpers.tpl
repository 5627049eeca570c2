{{- /* The labels of all objects, by which the Service finds the pod. */ -}}
{{- define "viceroy.labels" -}}
app.kubernetes.io/name: viceroy-controller
{{- end -}}

{{- /* The namespaces whose pods may ask, as JSON: Helm has no other way to return a list. */ -}}
{{- define "viceroy.askers" -}}
{{- $names := list -}}
{{- range .Values.rules }}{{ $names = concat $names .who.namespaces }}{{ end -}}
{{- dict "names" (uniq $names) | toJson -}}
{{- end -}}

{{- /* The namespaces of the hosts, in the same form. */ -}}
{{- define "viceroy.hosts" -}}
{{- $names := list -}}
{{- range .Values.rules }}{{ $names = concat $names (default .who.namespaces .allow.namespaces) }}{{ end -}}
{{- dict "names" (uniq $names) | toJson -}}
{{- end -}}
