#include "serving/http/serving_api.h"

namespace sotto::serving {

std::string_view open_api_document() {
  return R"json({
"openapi": "3.0.3",
"info": {"title": "Sotto private serving", "version": "1",
  "description": "Recommendations from what a device may safely send. Queries are never logged."},
"paths": {
  "/v1/recommend": {"post": {"summary": "Rank the live pool", "requestBody": {"required": true, "content": {
      "application/json": {"schema": {"$ref": "#/components/schemas/RecommendRequest"}},
      "application/x-flatbuffers": {"schema": {"type": "string", "format": "binary"}}}},
    "responses": {"200": {"$ref": "#/components/responses/Answer"}, "400": {"$ref": "#/components/responses/Error"},
      "409": {"$ref": "#/components/responses/Error"}, "415": {"$ref": "#/components/responses/Error"}}}},
  "/v1/popular": {"get": {"summary": "The public list of the average user", "parameters": [
      {"name": "count", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 10}},
      {"name": "category", "in": "query", "schema": {"type": "string"}},
      {"name": "language", "in": "query", "schema": {"type": "string"}},
      {"name": "model", "in": "query", "schema": {"type": "string"}}],
    "responses": {"200": {"$ref": "#/components/responses/Answer"}, "400": {"$ref": "#/components/responses/Error"},
      "409": {"$ref": "#/components/responses/Error"}}}},
  "/v1/pack": {"get": {"summary": "The public device pack, or what changed since a version", "parameters": [
      {"name": "from", "in": "query", "schema": {"type": "string"}},
      {"name": "If-None-Match", "in": "header", "schema": {"type": "string"}},
      {"name": "Range", "in": "header", "schema": {"type": "string"}, "description": "One range of bytes, with If-Range"},
      {"name": "Accept-Encoding", "in": "header", "schema": {"type": "string"}, "description": "zstd or gzip"}],
    "responses": {"206": {"description": "The part asked for"}, "416": {"$ref": "#/components/responses/Error"}, "200": {"description": "The pack, or a delta (then with the header Sotto-Delta-From)",
        "content": {"application/x-flatbuffers": {"schema": {"type": "string", "format": "binary"}}}},
      "304": {"description": "Unchanged"}, "503": {"$ref": "#/components/responses/Error"}}}},
  "/v1/blind": {"post": {"summary": "Answer an encrypted question (with --blind): BlindQuery of proto/blind.fbs", "requestBody": {"required": true, "content": {
      "application/x-flatbuffers": {"schema": {"type": "string", "format": "binary"}}}},
    "responses": {"200": {"description": "BlindAnswer", "content": {"application/x-flatbuffers": {"schema": {"type": "string", "format": "binary"}}}},
      "400": {"$ref": "#/components/responses/Error"}, "409": {"$ref": "#/components/responses/Error"}, "503": {"$ref": "#/components/responses/Error"}}}},
  "/v1/blind/{version}": {"get": {"summary": "The guide to ask with, by its hash in the pack", "parameters": [
      {"name": "version", "in": "path", "required": true, "schema": {"type": "string"}}],
    "responses": {"200": {"description": "BlindGuide", "content": {"application/x-flatbuffers": {"schema": {"type": "string", "format": "binary"}}}},
      "304": {"description": "Unchanged"}, "404": {"$ref": "#/components/responses/Error"}}}},
  "/v1/log": {"get": {"summary": "Entries of the public log behind the first `from` (with --log): LogPage", "parameters": [
      {"name": "from", "in": "query", "required": true, "schema": {"type": "integer", "minimum": 0}}],
    "responses": {"200": {"description": "At most 1,000 of them"}, "400": {"$ref": "#/components/responses/Error"}}}},
  "/v1/log/head": {"get": {"summary": "The signed head of the log",
    "responses": {"200": {"description": "SignedHead"}, "404": {"$ref": "#/components/responses/Error"}}}},
  "/v1/log/proof": {"get": {"summary": "That an entry is in the log, for whoever saw the first `from`", "parameters": [
      {"name": "kind", "in": "query", "required": true, "schema": {"type": "string", "enum": ["pack", "guide"]}},
      {"name": "hash", "in": "query", "required": true, "schema": {"type": "string"}},
      {"name": "from", "in": "query", "required": true, "schema": {"type": "integer", "minimum": 0}}],
    "responses": {"200": {"description": "LogProof"}, "400": {"$ref": "#/components/responses/Error"},
      "404": {"$ref": "#/components/responses/Error"}}}},
  "/v1/log/cosignature": {"post": {"summary": "A witness's word about the head",
    "requestBody": {"required": true, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
    "responses": {"200": {"description": "It is in the log"}, "400": {"$ref": "#/components/responses/Error"},
      "403": {"$ref": "#/components/responses/Error"}, "409": {"$ref": "#/components/responses/Error"}, "503": {"$ref": "#/components/responses/Error"}}}},
  "/v1/items": {"put": {"summary": "Add or replace articles", "security": [{"operator": []}],
    "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object",
      "required": ["items"], "properties": {"items": {"type": "array", "minItems": 1, "maxItems": 1000,
        "items": {"$ref": "#/components/schemas/Item"}}}}}}},
    "responses": {"200": {"description": "All are searchable and durable: how many were stored, of these replaced under their id, and of these with the title and abstract of another one (same_text)"}, "400": {"$ref": "#/components/responses/Error"},
      "401": {"$ref": "#/components/responses/Error"}, "403": {"$ref": "#/components/responses/Error"},
      "503": {"$ref": "#/components/responses/Error"}}}},
  "/v1/items/{id}": {"get": {"summary": "An article with its vector, for whoever opens it (with --blind)", "parameters": [
      {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "responses": {"200": {"description": "The article", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}},
      "404": {"$ref": "#/components/responses/Error"}}}, "delete": {"summary": "Remove an article", "security": [{"operator": []}], "parameters": [
      {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "responses": {"200": {"description": "Removed"}, "401": {"$ref": "#/components/responses/Error"},
      "403": {"$ref": "#/components/responses/Error"}, "404": {"$ref": "#/components/responses/Error"},
      "503": {"$ref": "#/components/responses/Error"}}}},
  "/healthz": {"get": {"summary": "Is the server well?", "responses": {"200": {"description": "Yes"},
      "503": {"$ref": "#/components/responses/Error"}}}},
  "/metrics": {"get": {"summary": "Prometheus metrics", "responses": {"200": {"description": "Text"}}}}
},
"components": {
  "securitySchemes": {"operator": {"type": "http", "scheme": "bearer"}},
  "responses": {
    "Answer": {"description": "Best first", "content": {"application/json": {"schema": {"type": "object",
      "properties": {"model": {"type": "string"}, "items": {"type": "array", "items": {"type": "object",
        "properties": {"id": {"type": "string"}, "score": {"type": "number"}}}}}}}}},
    "Error": {"description": "What is wrong and what to do", "content": {"application/json": {"schema": {
      "type": "object", "properties": {"error": {"type": "string"}}}}}}},
  "schemas": {
    "RecommendRequest": {"type": "object", "required": ["model"],
      "description": "Exactly one of coefficients, prototypes, popular and mechanism",
      "properties": {"model": {"type": "string"},
        "coefficients": {"type": "array", "items": {"type": "number", "minimum": 0},
          "description": "One per basis vector, sum 1"},
        "prototypes": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        "popular": {"type": "boolean", "enum": [true]},
        "mechanism": {"type": "object", "required": ["name", "bytes"], "description": "Any other mechanism",
          "properties": {"name": {"type": "string"},
            "bytes": {"type": "string", "format": "byte", "description": "What it tells, in base64"}}},
        "count": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 10},
        "categories": {"type": "array", "items": {"type": "string"}},
        "language": {"type": "string"},
        "published_after": {"type": "integer", "description": "Seconds since 1970"}}},
    "Item": {"type": "object", "required": ["id"], "description": "With a title, an abstract or a vector",
      "properties": {"id": {"type": "string"}, "title": {"type": "string"},
        "abstract": {"type": "string"}, "category": {"type": "string"}, "subcategory": {"type": "string"},
        "language": {"type": "string"}, "published": {"type": "integer"},
        "vector": {"type": "array", "items": {"type": "number"}},
        "encoded_by": {"type": "string", "description": "The model version that made the vector"}}}}
}
})json";
}

}  // namespace sotto::serving
