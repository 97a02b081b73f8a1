// Where a device in a browser keeps its files: IndexedDB, in one transaction for all that changed, and durable when
// the promise resolves: "strict" waits for the disk. Nothing is sent before.
import type { Sent } from './messages'

export const databaseName = 'sotto-device'
const files = 'files'
const sent = 'sent'
const mostSent = 200

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
    const request = indexedDB.open(databaseName, 1)
    request.onupgradeneeded = () => {
      request.result.createObjectStore(files)
      request.result.createObjectStore(sent, { keyPath: 'id', autoIncrement: true })
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

  async save(changed: Files, removed: string[]): Promise<void> {
    const change = this.database.transaction(files, 'readwrite', { durability: 'strict' })
    const whole = finished(change)
    for (const [name, content] of changed) change.objectStore(files).put(content, name)
    for (const name of removed) change.objectStore(files).delete(name)
    await whole
  }

  /** What leaves is written down before it does; returns its number. */
  async note(one: Sent): Promise<number> {
    const change = this.database.transaction(sent, 'readwrite', { durability: 'strict' })
    const whole = finished(change)
    const number = Number(await done(change.objectStore(sent).add(one)))
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
