/* A reader's device for programs in any language: what device/device.h is in C++, behind opaque handles.
 *
 * Everything a device knows lives in its folder. It does no network: what it wants to say is a talk, whose
 * host carries the bytes (docs/sdk.md has a whole program). Before its person has agreed it asks nothing,
 * enrols nowhere and trains for nobody; after sotto_device_withdraw() it does so no more.
 *
 * Functions return SOTTO_OK or a handle, and otherwise fill in `error` (which may be NULL) and return another
 * number or NULL. No exception leaves this library. Texts are UTF-8 and end with a zero; those that are
 * returned as char* belong to the caller and are given back by sotto_text_free(). A device and its talks are
 * used by one thread at a time; talks may take turns, and keep their device until they are freed.
 *
 * Randomness is always that of the library: the kernel's, and in a browser crypto.getRandomValues. */

#ifndef SOTTO_DEVICE_H
#define SOTTO_DEVICE_H

/* NOLINTBEGIN(readability-identifier-naming): names as C has them */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this interface: grows when something is added; what is there stays as it is. */
#define SOTTO_DEVICE_VERSION 2
uint32_t sotto_device_version(void); /* of the library */

typedef struct sotto_device sotto_device;
typedef struct sotto_talk sotto_talk;

enum {
  SOTTO_OK = 0,
  SOTTO_FAILED = 1,   /* the machine or the network let us down: trying again may help */
  SOTTO_WRONG_USE = 2 /* what was asked for cannot be: the message says why, and what to do */
};
typedef struct sotto_error {
  int32_t code;
  char message[1020];
} sotto_error;

void sotto_text_free(char* text);

/* ---- the host */

typedef struct sotto_clock {
  int64_t wall_seconds;    /* since 1970, UTC */
  uint64_t boot;           /* which start of the machine this is; 0: the machine cannot say */
  int64_t running_seconds; /* since that start, sleep included */
  int32_t vouched;         /* the wall clock was set by something that the host trusts */
} sotto_clock;

enum { SOTTO_IDLE = 1, SOTTO_UNMETERED = 2, SOTTO_CHARGING = 4 };

/* What the library needs to know of where it runs. Every function may be NULL; `context` is given to each.
 * Functions return 0 when they succeed. */
typedef struct sotto_host {
  uint32_t size; /* sizeof(sotto_host): later versions add members behind */
  /* The host states that this device has never told anything before. Otherwise a missing ledger begins with
   * its budgets spent, because it may have been deleted. */
  uint32_t first_use;
  void* context;
  /* How far the ledger has come, kept where the folder's fate is not: a key store, an account. load: at most
   * *length bytes into `bytes`, *length says how many; 0: nothing was ever stored. store: durable when it
   * returns; at most 100 bytes. */
  int (*load_anchor)(void* context, uint8_t* bytes, size_t* length);
  int (*store_anchor)(void* context, const uint8_t* bytes, size_t length);
  /* SOTTO_IDLE | SOTTO_UNMETERED | SOTTO_CHARGING, as they are now. Asked before and while it trains, for
   * those that the settings train_only_idle, train_only_unmetered and train_only_charging demand. NULL:
   * nothing is known, and nothing is demanded. */
  uint32_t (*conditions)(void* context);
  /* NULL: the clocks of the system. */
  int (*read_clock)(void* context, sotto_clock* now);
} sotto_host;

/* ---- a device */

/* settings: lines of name=value, as in the device.toml of 'sotto device'; NULL or empty: the defaults, with
 * which nothing is sent. host: may be NULL. One program at a time has a folder open. */
sotto_device* sotto_device_open(const char* folder, const char* settings, const sotto_host* host,
                                sotto_error* error);
void sotto_device_close(sotto_device* device);
char* sotto_device_settings(void); /* their names, defaults and ranges, as a table */

/* What its person is to be asked: service is who asks, as the person knows it; purpose is what for, of
 * training as the campaign states it (sotto_device_campaign). JSON, with all limits: to be shown in words. */
enum { SOTTO_TRAINING = 1, SOTTO_ASKING = 2 };
char* sotto_device_terms(sotto_device* device, const char* service, const char* purpose, uint32_t scope,
                         sotto_error* error);
/* The person has seen these terms, byte by byte what sotto_device_terms gave, and said yes. */
int32_t sotto_device_agree(sotto_device* device, const char* terms, sotto_error* error);
char* sotto_device_consent(sotto_device* device, sotto_error* error); /* JSON; "null": none was given */
/* Consent and key are gone, and talks that are under way end. */
int32_t sotto_device_withdraw(sotto_device* device, sotto_error* error);

/* ---- what was read: stays here */

int32_t sotto_device_click(sotto_device* device, const char* item, sotto_error* error);
/* An item that the pack does not hold (blind serving), with what came along when it was opened. */
int32_t sotto_device_click_opened(sotto_device* device, const char* item, const float* vector,
                                  size_t dimension, const char* category, sotto_error* error);
/* A page that was shown, and what was clicked of it (1 or 0 for each). */
int32_t sotto_device_add_page(sotto_device* device, const char* const* shown, const uint8_t* clicked,
                              size_t count, sotto_error* error);
/* Something that was used or rated just now, in a situation: features and their values by the names that the
 * service has published. rating: NULL if it was used. Since version 2. */
int32_t sotto_device_add_row(sotto_device* device, const char* item, const float* rating,
                             const char* const* features, const char* const* values, size_t count,
                             sotto_error* error);
/* What the device knows of its reader, in place of what it knew before. Since version 2. */
int32_t sotto_device_set_profile(sotto_device* device, const char* const* features, const char* const* values,
                                 size_t count, sotto_error* error);
int32_t sotto_device_install_pack(sotto_device* device, const uint8_t* bytes, size_t length,
                                  sotto_error* error);

/* Ranks these items once more by what has been read meanwhile, or the whole pool where count is 0, without
 * asking anybody. JSON as of sotto_device_recommend. Since version 2. */
char* sotto_device_rank_again(sotto_device* device, const char* const* items, size_t count, uint32_t wanted,
                              sotto_error* error);

/* What the operator called something else after this device had seen it, oldest first, to be shown to its
 * person: JSON, a list of {"item", "before", "after", "time"}, where an empty category is none. Clicks stay
 * as protected as the most sensitive name asks for. Since version 2. */
char* sotto_device_label_changes(sotto_device* device, sotto_error* error);
char* sotto_device_statement(sotto_device* device, sotto_error* error); /* of the ledger; JSON */
char* sotto_device_export(sotto_device* device, sotto_error* error);    /* everything that is kept; JSON */
/* Deletes clicks, pages, rows, profile and answers. The ledger stays: it says what was told. */
int32_t sotto_device_forget(sotto_device* device, sotto_error* error);
/* Deletes what was read of one item: clicks, what pages say of them, rows. SOTTO_WRONG_USE: there is nothing.
 * Since version 2. */
int32_t sotto_device_forget_item(sotto_device* device, const char* item, sotto_error* error);
/* Deletes the folder and everything in it, and closes the device. Refused while a talk is under way. */
int32_t sotto_device_erase(sotto_device* device, sotto_error* error);

/* ---- what is said to servers: each starts a talk */

sotto_talk* sotto_device_refresh(sotto_device* device, sotto_error* error); /* the public pack */
sotto_talk* sotto_device_recommend(sotto_device* device, uint32_t count, sotto_error* error);
sotto_talk* sotto_device_prepare(sotto_device* device, sotto_error* error); /* keys of blind questions */
/* The campaign that a coordinator runs, so that people can be asked. */
sotto_talk* sotto_device_campaign(sotto_device* device, sotto_error* error);
/* token: as the operator gave it out. Both keys are 64 hexadecimal digits and shipped with the program; the
 * operator's later keys are followed by themselves. recovery_key: NULL if the operator has none. */
sotto_talk* sotto_device_enrol(sotto_device* device, const uint8_t* token, size_t length,
                               const char* operator_key, const char* recovery_key, sotto_error* error);
/* One round of training. sotto_talk_next() computes for as long as the campaign allows. */
sotto_talk* sotto_device_train(sotto_device* device, sotto_error* error);

enum { SOTTO_CALL = 1, SOTTO_WAIT = 2, SOTTO_DONE = 3 };
/* What it points to lives until the next function is called with this talk. */
typedef struct sotto_step {
  int32_t kind;
  const char* method; /* of a call: "GET" or "POST" */
  const char* path;   /* with its query, behind the address of the server */
  size_t header_count;
  const char* const* header_names;
  const char* const* header_values;
  const uint8_t* body;
  size_t body_length;
  uint32_t wait_milliseconds; /* of a wait: at least so long, then next again */
} sotto_step;

/* The same call is given until it is answered or lost. */
int32_t sotto_talk_next(sotto_talk* talk, sotto_step* step, sotto_error* error);
/* Any status is an answer. body: without the coding that it travelled in. */
int32_t sotto_talk_received(sotto_talk* talk, int32_t status, const uint8_t* body, size_t length,
                            sotto_error* error);
/* The same with the answer's header Sotto-Come-Back, or NULL: when a coordinator wants to be asked again,
 * which is then in the result of sotto_device_train as come_back_milliseconds. Since version 2. */
int32_t sotto_talk_received_with(sotto_talk* talk, int32_t status, const uint8_t* body, size_t length,
                                 const char* come_back, sotto_error* error);
/* The server was not reached, or gave no answer in time. Whether it is tried again is up to the talk. */
int32_t sotto_talk_lost(sotto_talk* talk, const char* why, sotto_error* error);
/* Once it is done: what came of it as JSON, or why nothing did. */
char* sotto_talk_result(sotto_talk* talk, sotto_error* error);
/* Ends it wherever it stands, and wipes what it held. */
void sotto_talk_free(sotto_talk* talk);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming) */

#endif
