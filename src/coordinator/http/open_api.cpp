#include "coordinator/http/coordinator_api.h"

namespace sotto::coordinator {

std::string_view open_api_document() {
  return R"json({
"openapi": "3.0.3",
"info": {"title": "Sotto coordinator", "version": "1",
  "description": "Rounds of private training. Bodies of devices are binary (docs/campaigns.md) and never logged."},
"paths": {
  "/v1/campaign": {"get": {"summary": "The campaign, as its operator signed it",
    "responses": {"200": {"$ref": "#/components/responses/Bytes"}}}},
  "/v1/order": {"get": {"summary": "Campaign, order and proofs of the round that is open",
    "responses": {"200": {"$ref": "#/components/responses/Bytes"}, "404": {"$ref": "#/components/responses/Error"}}}},
  "/v1/log": {"get": {"summary": "Entries of the public log behind the first `from`", "parameters": [
      {"name": "from", "in": "query", "required": true, "schema": {"type": "integer", "minimum": 0}}],
    "responses": {"200": {"$ref": "#/components/responses/Bytes"}, "400": {"$ref": "#/components/responses/Error"}}}},
  "/v1/log/head": {"get": {"summary": "The signed head of the log",
    "responses": {"200": {"$ref": "#/components/responses/Bytes"}}}},
  "/v1/log/entries": {"get": {"summary": "The public log for people", "parameters": [
      {"name": "from", "in": "query", "schema": {"type": "integer", "minimum": 0}}],
    "responses": {"200": {"description": "JSON"}, "400": {"$ref": "#/components/responses/Error"}}}},
  "/v1/log/cosignature": {"post": {"summary": "A witness's word about the head",
    "requestBody": {"$ref": "#/components/requestBodies/Bytes"},
    "responses": {"200": {"description": "It is in the log"}, "400": {"$ref": "#/components/responses/Error"},
      "403": {"$ref": "#/components/responses/Error"}, "409": {"$ref": "#/components/responses/Error"}}}},
  "/v1/blob/{hash}": {"get": {"summary": "A version of the model or a table of items, by its SHA-256", "parameters": [
      {"name": "hash", "in": "path", "required": true, "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"}},
      {"name": "Range", "in": "header", "schema": {"type": "string"}},
      {"name": "Accept-Encoding", "in": "header", "schema": {"type": "string"}, "description": "zstd or gzip"}],
    "responses": {"200": {"$ref": "#/components/responses/Bytes"}, "206": {"description": "The part asked for"},
      "304": {"description": "Unchanged"}, "404": {"$ref": "#/components/responses/Error"}}}},
  "/v1/enrol": {"post": {"summary": "Make a device known, by a token of the operator",
    "requestBody": {"$ref": "#/components/requestBodies/Bytes"},
    "responses": {"200": {"description": "Enrolled; the coordinator's key"}, "400": {"$ref": "#/components/responses/Error"},
      "403": {"$ref": "#/components/responses/Error"}, "409": {"$ref": "#/components/responses/Error"}}}},
  "/v1/checkin": {"post": {"summary": "Wait for a group of the open round", "security": [{"device": []}],
    "requestBody": {"$ref": "#/components/requestBodies/Bytes"},
    "responses": {"200": {"$ref": "#/components/responses/Bytes"}, "202": {"description": "Send the same again"},
      "403": {"$ref": "#/components/responses/Error"}, "410": {"description": "The round is over"}}}},
  "/v1/rounds/{room}/{phase}": {"post": {"summary": "A message of the secure sum; the answer is the next one",
    "security": [{"device": []}], "parameters": [
      {"name": "room", "in": "path", "required": true, "schema": {"type": "string"}},
      {"name": "phase", "in": "path", "required": true, "schema": {"type": "string",
        "enum": ["advertise", "share", "upload", "confirm", "reveal"]}}],
    "requestBody": {"$ref": "#/components/requestBodies/Bytes"},
    "responses": {"200": {"$ref": "#/components/responses/Bytes"}, "202": {"description": "Send the same again"},
      "403": {"$ref": "#/components/responses/Error"}, "409": {"description": "Other bytes were taken before, and count"},
      "410": {"description": "The group or the round is over"}}}},
  "/v1/status": {"get": {"summary": "How the campaign stands, without anything about a device",
    "responses": {"200": {"description": "JSON"}}}},
  "/v1/events": {"get": {"summary": "The answer of /v1/status whenever it changes, as server-sent events",
    "responses": {"200": {"description": "text/event-stream"}}}},
  "/v1/rounds": {"get": {"summary": "The last orders: devices by phase, time, bytes",
    "responses": {"200": {"description": "JSON"}}}},
  "/v1/versions": {"get": {"summary": "The versions of the campaign, which is current, and how devices measured them",
    "responses": {"200": {"description": "JSON"}}}},
  "/v1/campaigns": {"get": {"summary": "The campaigns that this store has seen",
    "responses": {"200": {"description": "JSON"}}}},
  "/v1/serving": {"get": {"summary": "What servers that recommend say of themselves: queries, latency, items, refusals",
    "responses": {"200": {"description": "JSON"}}}},
  "/dashboard": {"get": {"summary": "The operator's page", "responses": {"200": {"description": "HTML"}}}},
  "/assets/{file}": {"get": {"summary": "What the page is made of", "parameters": [
      {"name": "file", "in": "path", "required": true, "schema": {"type": "string"}}],
    "responses": {"200": {"description": "A file"}, "404": {"$ref": "#/components/responses/Error"}}}},
  "/v1/admin/pause": {"post": {"summary": "No further order", "security": [{"operator": []}],
    "responses": {"200": {"description": "Paused"}, "401": {"$ref": "#/components/responses/Error"}}}},
  "/v1/admin/resume": {"post": {"summary": "Orders again", "security": [{"operator": []}],
    "responses": {"200": {"description": "Open"}, "401": {"$ref": "#/components/responses/Error"}}}},
  "/v1/admin/drain": {"post": {"summary": "Let no device in any more", "security": [{"operator": []}],
    "responses": {"200": {"description": "Draining"}, "401": {"$ref": "#/components/responses/Error"}}}},
  "/v1/admin/roll-back": {"post": {"summary": "Train on from an older version", "security": [{"operator": []}],
    "parameters": [{"name": "version", "in": "query", "required": true, "schema": {"type": "integer", "minimum": 0}},
      {"name": "why", "in": "query", "schema": {"type": "string"}}],
    "responses": {"200": {"description": "Done"}, "400": {"$ref": "#/components/responses/Error"},
      "401": {"$ref": "#/components/responses/Error"}}}},
  "/v1/admin/revoke": {"post": {"summary": "A device is unknown from now on", "security": [{"operator": []}],
    "parameters": [{"name": "device", "in": "query", "required": true, "schema": {"type": "string"}}],
    "responses": {"200": {"description": "Done"}, "400": {"$ref": "#/components/responses/Error"},
      "401": {"$ref": "#/components/responses/Error"}}}},
  "/v1/admin/actions": {"get": {"summary": "What was done here, oldest first", "security": [{"operator": []}],
    "responses": {"200": {"description": "JSON"}, "401": {"$ref": "#/components/responses/Error"}}}},
  "/v1/admin/left-out": {"get": {"summary": "Devices that spoiled a group, and are left out of the campaign",
    "security": [{"operator": []}],
    "responses": {"200": {"description": "JSON"}, "401": {"$ref": "#/components/responses/Error"}}}},
  "/healthz": {"get": {"summary": "Is the server well?", "responses": {"200": {"description": "Yes"}}}},
  "/readyz": {"get": {"summary": "Does it take devices?", "responses": {"200": {"description": "Yes"},
      "503": {"$ref": "#/components/responses/Error"}}}},
  "/metrics": {"get": {"summary": "Prometheus metrics", "responses": {"200": {"description": "Text"}}}}
},
"components": {
  "securitySchemes": {"operator": {"type": "http", "scheme": "bearer"},
    "device": {"type": "apiKey", "in": "header", "name": "Sotto-Signature",
      "description": "Ed25519 over method, path and the SHA-256 of the body in Sotto-Body, by the key in Sotto-Device"}},
  "requestBodies": {"Bytes": {"required": true, "content": {"application/octet-stream": {
    "schema": {"type": "string", "format": "binary"}}}}},
  "responses": {
    "Bytes": {"description": "Binary", "content": {"application/octet-stream": {
      "schema": {"type": "string", "format": "binary"}}}},
    "Error": {"description": "What is wrong and what to do", "content": {"application/json": {"schema": {
      "type": "object", "properties": {"error": {"type": "string"}}}}}}}
}})json";
}

}  // namespace sotto::coordinator
