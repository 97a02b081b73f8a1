// Where a device in a browser keeps its files: IndexedDB, in one transaction for all that changed, and durable when
// the promise resolves: "strict" waits for the disk. Nothing is sent before.
import type { Sent, Trained } from './messages'

export const databaseName = 'sotto-device'
const files = 'files'
const sent = 'sent'
const counted = 'counted'
const trained = 'trained'
const mostSent = 200
const mostTrained = 50
const mostCounted = 500 // calls: far more than can be unanswered when a tab goes

export type Files = Map<string, Uint8Array<ArrayBuffer>>

const done = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

const finished = (change: IDBTransaction): Promise<void> =>
  new Promise((resolve, reject) => {
    change.oncomplete = () => resolve()
    change.onabort = () => reject(change.error ?? new Error('the browser gave up a change to its storage'))
  })

export class Store {
  private constructor(private readonly database: IDBDatabase) {}

  static async open(): Promise<Store> {
    const request = indexedDB.open(databaseName, 3)
    request.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion < 1) {
        request.result.createObjectStore(files)
        request.result.createObjectStore(sent, { keyPath: 'id', autoIncrement: true })
      }
      if (oldVersion < 2) request.result.createObjectStore(counted, { autoIncrement: true })
      request.result.createObjectStore(trained, { autoIncrement: true })
    }
    return new Store(await done(request))
  }

  async load(): Promise<Files> {
    const change = this.database.transaction(files)
    const [names, contents] = await Promise.all([
      done(change.objectStore(files).getAllKeys()),
      done(change.objectStore(files).getAll()) as Promise<Uint8Array<ArrayBuffer>[]>,
    ])
    return new Map(names.map((name, place) => [String(name), contents[place]!]))
  }

  /** counts: ids of the calls that these changes are of, so that none of them is counted twice. */
  async save(changed: Files, removed: string[], counts: string[]): Promise<void> {
    const change = this.database.transaction([files, counted], 'readwrite', { durability: 'strict' })
    const whole = finished(change)
    for (const [name, content] of changed) change.objectStore(files).put(content, name)
    for (const name of removed) change.objectStore(files).delete(name)
    for (const id of counts) {
      const added = change.objectStore(counted).add(id)
      added.onsuccess = () => {
        const number = Number(added.result)
        if (number > mostCounted) change.objectStore(counted).delete(IDBKeyRange.upperBound(number - mostCounted))
      }
    }
    await whole
  }

  /** Ids of the calls that were counted last. */
  async counts(): Promise<string[]> {
    return (await done(this.database.transaction(counted).objectStore(counted).getAll())) as string[]
  }

  /** What leaves is written down before it does; returns its number. The same bare request again, with nothing in
   * between, is one line that counts: a device that looks whether a round is open would soon push out all others. */
  async note(one: Sent): Promise<number> {
    const change = this.database.transaction(sent, 'readwrite', { durability: 'strict' })
    const whole = finished(change)
    const last = (await done(change.objectStore(sent).openCursor(null, 'prev')))?.value as Sent | undefined
    if (last && one.method === 'GET' && last.method === 'GET' && last.path === one.path) {
      one.id = last.id
      one.times = last.times + 1
    }
    const number = Number(await done(change.objectStore(sent).put(one)))
    if (number > mostSent) change.objectStore(sent).delete(IDBKeyRange.upperBound(number - mostSent))
    await whole
    return number
  }

  /** What came of it. */
  async complete(one: Sent): Promise<void> {
    const change = this.database.transaction(sent, 'readwrite')
    const whole = finished(change)
    change.objectStore(sent).put(one)
    await whole
  }

  /** A round that was taken part in, and what came of it. */
  async noteTrained(one: Trained): Promise<void> {
    const change = this.database.transaction(trained, 'readwrite')
    const whole = finished(change)
    const number = Number(await done(change.objectStore(trained).add(one)))
    if (number > mostTrained) change.objectStore(trained).delete(IDBKeyRange.upperBound(number - mostTrained))
    await whole
  }
  /** Newest first. */
  async trained(): Promise<Trained[]> {
    const all = (await done(this.database.transaction(trained).objectStore(trained).getAll())) as Trained[]
    return all.reverse()
  }

  /** Newest first. */
  async sent(): Promise<Sent[]> {
    const all = (await done(this.database.transaction(sent).objectStore(sent).getAll())) as Sent[]
    return all.reverse()
  }

  async drop(): Promise<void> {
    this.database.close()
    await done(indexedDB.deleteDatabase(databaseName))
  }
}
