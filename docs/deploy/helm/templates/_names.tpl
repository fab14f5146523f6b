{{- define "sandgate.name" -}}
{{- if contains "sandgate" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-sandgate" (.Release.Name | trunc 43 | trimSuffix "-") }}{{ end }}
{{- end -}}

{{- define "sandgate.selector" -}}
app.kubernetes.io/name: sandgate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sandgate.labels" -}}
{{ include "sandgate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- /* How long running requests get, from the gateway's own setting. */ -}}
{{- define "sandgate.grace" -}}
{{ dig "limits" "stop_grace_seconds" 30 .Values.config }}
{{- end -}}

{{- /* The hosts of sandboxes' ports, which are below the setting ports.domain; empty without one. */ -}}
{{- define "sandgate.portHosts" -}}
{{- with dig "ports" "domain" "" .Values.config }}*.{{ regexReplaceAll ":.*" . "" }}{{ end -}}
{{- end -}}

{{- define "sandgate.config" -}}
{{- $config := dict "home" "/var/lib/sandgate" "listen" "0.0.0.0:8080" -}}
{{- if .Values.e2b.enabled }}{{ $_ := set $config "e2b" (dict "listen" "0.0.0.0:8081") }}{{ end -}}
{{- if .Values.tls.secretName }}{{ $_ := set $config "tls" (dict "certificate" "/etc/sandgate/tls/tls.crt" "key" "/etc/sandgate/tls/tls.key") }}{{ end -}}
{{ toYaml (merge $config .Values.config) }}
{{- end -}}
