/* A reader's device in C. The library does no network: this host carries what a talk wants to say by curl. */
#define _POSIX_C_SOURCE 200809L /* posix_spawn, nanosleep */
#include <fcntl.h>
#include <sotto_device.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;
static sotto_error error;

static int fail(const char* what) {
  fprintf(stderr, "reader_c: %s: %s\n", what, error.message);
  return 1;
}

/* To be freed by the caller. */
static char* joined(const char* one, const char* between, const char* other) {
  const size_t length = strlen(one) + strlen(between) + strlen(other) + 1;
  char* text = malloc(length);
  if (text == NULL) abort();
  snprintf(text, length, "%s%s%s", one, between, other);
  return text;
}

/* Runs a command to its end and not by a shell, to which what a server sent could be a command too. */
static int run(char* const* words, const char* output) {
  posix_spawn_file_actions_t files;
  pid_t process = 0;
  int status = 0;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int wrong = posix_spawnp(&process, words[0], &files, NULL, words, environ);
  posix_spawn_file_actions_destroy(&files);
  return wrong == 0 && waitpid(process, &status, 0) == process && status == 0;
}

/* One HTTP request by the command curl: the body goes and comes by files. A phone uses its own client. */
static void carry(sotto_talk* talk, const sotto_step* step, const char* url, const char* folder) {
  enum { most_headers = 16 };
  if (step->header_count > most_headers) exit(fail("more headers than this host carries"));
  char* request = joined(folder, ".", "request");
  char* answer = joined(folder, ".", "answer");
  char* code = joined(folder, ".", "status");
  char* body = joined("@", "", request);
  char* address = joined(url, "", step->path);
  char* headers[most_headers];
  char* words[2 * most_headers + 16] = {"curl",  "-gs",  "-m",           "60", "-o",
                                        answer,  "-w",   "%{http_code}", "-X", (char*)step->method,
                                        "--url", address};
  size_t count = 12;
  for (size_t i = 0; i < step->header_count; ++i) {
    words[count++] = "-H";
    words[count++] = headers[i] = joined(step->header_names[i], ": ", step->header_values[i]);
  }
  if (strcmp(step->method, "POST") == 0) {
    words[count++] = "--data-binary";
    words[count++] = body;
    FILE* file = fopen(request, "wb");
    if (file == NULL || fwrite(step->body, 1, step->body_length, file) != step->body_length)
      exit(fail("cannot write"));
    fclose(file);
  }
  int status = 0;
  FILE* said = run(words, code) ? fopen(code, "r") : NULL;
  if (said == NULL || fscanf(said, "%d", &status) != 1) status = 0;
  if (said != NULL) fclose(said);
  FILE* answered = status > 0 ? fopen(answer, "rb") : NULL;
  if (answered != NULL) {
    static uint8_t bytes[64 << 20];
    const size_t length = fread(bytes, 1, sizeof bytes, answered);
    fclose(answered);
    sotto_talk_received(talk, status, bytes, length, &error);
  } else {
    sotto_talk_lost(talk, "nobody answers", &error);
  }
  for (size_t i = 0; i < step->header_count; ++i) free(headers[i]);
  free(request), free(answer), free(code), free(body), free(address);
}

/* As long as the talk wants: a coordinator says when to come back. */
static void rest(uint32_t milliseconds) {
  const struct timespec time = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
  nanosleep(&time, NULL);
}

/* Carries a talk out and prints what came of it. */
static int talk_to(sotto_talk* talk, const char* url, const char* folder) {
  if (talk == NULL) return fail("cannot begin");
  sotto_step step;
  while (sotto_talk_next(talk, &step, &error) == SOTTO_OK && step.kind != SOTTO_DONE) {
    if (step.kind == SOTTO_CALL) carry(talk, &step, url, folder);
    if (step.kind == SOTTO_WAIT) rest(step.wait_milliseconds);
  }
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
  /* An app says so after it was installed, once, and keeps an anchor: load_anchor and store_anchor. */
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
