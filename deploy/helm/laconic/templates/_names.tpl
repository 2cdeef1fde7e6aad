{{- define "laconic.name" -}}
{{- printf "%s-gateway" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "laconic.selector" -}}
app.kubernetes.io/name: laconic
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "laconic.labels" -}}
{{ include "laconic.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
