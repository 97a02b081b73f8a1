/* A reader's device in C. The library does no network: this host carries what a talk wants to say by curl. */
#define _POSIX_C_SOURCE 200809L /* popen */
#include <sotto_device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sotto_error error;

static int fail(const char* what) {
  fprintf(stderr, "reader_c: %s: %s\n", what, error.message);
  return 1;
}

/* One HTTP request by the command curl: the body goes and comes by files. A phone uses its own client. */
static void carry(sotto_talk* talk, const sotto_step* step, const char* url, const char* folder) {
  char command[8192], file[1024];
  snprintf(file, sizeof file, "%s.request", folder);
  FILE* body = fopen(file, "wb");
  if (body == NULL) exit(fail("cannot write"));
  fwrite(step->body, 1, step->body_length, body);
  fclose(body);
  int length = snprintf(command, sizeof command, "curl -s -m 60 -o '%s.answer' -w '%%{http_code}' -X %s",
                        folder, step->method);
  for (size_t i = 0; i < step->header_count; ++i)
    length += snprintf(command + length, sizeof command - length, " -H '%s: %s'", step->header_names[i],
                       step->header_values[i]);
  if (strcmp(step->method, "POST") == 0)
    length += snprintf(command + length, sizeof command - length, " --data-binary '@%s'", file);
  snprintf(command + length, sizeof command - length, " '%s%s'", url, step->path);
  int status = 0;
  FILE* curl = popen(command, "r");
  if (curl == NULL || fscanf(curl, "%d", &status) != 1) status = 0;
  if (curl != NULL) pclose(curl);
  snprintf(file, sizeof file, "%s.answer", folder);
  FILE* answer = status > 0 ? fopen(file, "rb") : NULL;
  if (answer == NULL) {
    sotto_talk_lost(talk, "nobody answers", &error);
    return;
  }
  static uint8_t bytes[64 << 20];
  const size_t count = fread(bytes, 1, sizeof bytes, answer);
  fclose(answer);
  sotto_talk_received(talk, status, bytes, count, &error);
}

/* Carries a talk out and prints what came of it. */
static int talk_to(sotto_talk* talk, const char* url, const char* folder) {
  if (talk == NULL) return fail("cannot begin");
  sotto_step step;
  while (sotto_talk_next(talk, &step, &error) == SOTTO_OK && step.kind != SOTTO_DONE)
    if (step.kind == SOTTO_CALL) carry(talk, &step, url, folder);
  char* result = sotto_talk_result(talk, &error);
  if (result != NULL) printf("%s\n", result);
  const int failed = result == NULL ? fail("the server") : 0;
  sotto_text_free(result);
  sotto_talk_free(talk);
  return failed;
}

int main(int count, char** words) {
  if (count < 3) {
    fprintf(stderr, "usage: reader_c FOLDER URL [CLICKED...]\n");
    return 2;
  }
  sotto_host host = {.size = sizeof host, .first_use = 1};
  sotto_device* device =
      sotto_device_open(words[1], "ranking=private\nepsilon=3\nday_epsilon=6\n", &host, &error);
  if (device == NULL) return fail("cannot open");
  /* Here a person reads these terms, and says yes; until then nothing is asked. */
  char* terms = sotto_device_terms(device, words[2], "A front page for you", SOTTO_ASKING, &error);
  int failed =
      terms == NULL || sotto_device_agree(device, terms, &error) != SOTTO_OK ? fail("no consent") : 0;
  sotto_text_free(terms);
  failed = failed || talk_to(sotto_device_refresh(device, &error), words[2], words[1]);
  for (int i = 3; i < count && !failed; ++i)
    if (sotto_device_click(device, words[i], &error) != SOTTO_OK) failed = fail(words[i]);
  failed = failed || talk_to(sotto_device_recommend(device, 5, &error), words[2], words[1]);
  sotto_device_close(device);
  return failed;
}
