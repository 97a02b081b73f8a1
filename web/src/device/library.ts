// sotto_device.h as TypeScript: texts, structures and files of a module with 32-bit addresses. The numbers below are
// the offsets of the structures in that header.
import make, { type Module } from '../../wasm/built/sotto_device.mjs'
import { DeviceError } from './messages'
import type { Files } from './store'

export interface Call {
  kind: 'call'
  method: string
  path: string
  headers: [string, string][]
  body: Uint8Array<ArrayBuffer>
}
export type Step = Call | { kind: 'wait'; milliseconds: number } | { kind: 'done' }

const folder = '/device'
const packFile = `${folder}/pack.sotto`
const ledgerFile = `${folder}/ledger.sotto`
const errorBytes = 4 + 1020
const stepBytes = 36
const wrongUse = 2

export class Library {
  private constructor(private readonly module: Module) {}

  static async load(address: string): Promise<Library> {
    return new Library(await make({ locateFile: () => address }))
  }

  /** A text for as long as `use` runs. */
  private withText<T>(text: string, use: (place: number) => T): T {
    const bytes = this.module.lengthBytesUTF8(text) + 1
    const place = this.module._malloc(bytes)
    try {
      this.module.stringToUTF8(text, place, bytes)
      return use(place)
    } finally {
      this.module._free(place)
    }
  }

  /** Texts as an array of their addresses. */
  private withList<T>(texts: string[], use: (place: number) => T): T {
    const places: number[] = []
    try {
      for (const text of texts) {
        const bytes = this.module.lengthBytesUTF8(text) + 1
        const place = this.module._malloc(bytes)
        places.push(place)
        this.module.stringToUTF8(text, place, bytes)
      }
      return this.withBytes(new Uint8Array(new Uint32Array(places).buffer), use)
    } finally {
      for (const place of places) this.module._free(place)
    }
  }

  private withTexts<T>(texts: string[], use: (...places: number[]) => T, places: number[] = []): T {
    const next = texts[places.length]
    if (next === undefined) return use(...places)
    return this.withText(next, (place) => this.withTexts(texts, use, [...places, place]))
  }

  private withBytes<T>(bytes: Uint8Array, use: (place: number, length: number) => T): T {
    const place = this.module._malloc(Math.max(1, bytes.length))
    try {
      this.module.HEAPU8.set(bytes, place)
      return use(place, bytes.length)
    } finally {
      this.module._free(place)
    }
  }

  /** Runs a function of the library with room for its error, which is thrown when `isGood` says so. */
  private checked(call: (error: number) => number, isGood: (result: number) => boolean): number {
    const error = this.module._malloc(errorBytes)
    try {
      const result = call(error)
      if (isGood(result)) return result
      const code = this.module.HEAPU32[error / 4]
      throw new DeviceError(code === wrongUse ? 'wrong-use' : 'failed', this.module.UTF8ToString(error + 4))
    } finally {
      this.module._free(error)
    }
  }
  private status(call: (error: number) => number): void {
    this.checked(call, (result) => result === 0)
  }
  private pointer(call: (error: number) => number): number {
    return this.checked(call, (result) => result !== 0)
  }
  private text(call: (error: number) => number): string {
    const place = this.pointer(call)
    const text = this.module.UTF8ToString(place)
    this.module._sotto_text_free(place)
    return text
  }

  // ---- files

  putFiles(files: Files): void {
    const { FS } = this.module
    if (!FS.analyzePath(folder).exists) FS.mkdir(folder, 0o700)
    for (const [name, content] of files) {
      FS.writeFile(`${folder}/${name}`, content)
      FS.chmod(`${folder}/${name}`, 0o600)
    }
  }
  takeFiles(): Files {
    const { FS } = this.module
    const files: Files = new Map()
    if (!FS.analyzePath(folder).exists) return files
    for (const name of FS.readdir(folder))
      if (name !== '.' && name !== '..') files.set(name, FS.readFile(`${folder}/${name}`))
    return files
  }

  /** A ledger that is missing begins with its windows spent. */
  removeLedger(): void {
    this.module.FS.unlink(ledgerFile)
  }

  setAnchor(anchor: Uint8Array): void {
    this.withBytes(anchor, (place, length) => this.module._sotto_browser_set_anchor(place, length))
  }
  anchor(): Uint8Array<ArrayBuffer> {
    const place = this.module._sotto_browser_anchor()
    return this.module.HEAPU8.slice(place, place + this.module._sotto_browser_anchor_length())
  }

  // ---- a device

  open(settings: string, firstUse: boolean): number {
    const start = crypto.getRandomValues(new Uint32Array(1))[0]! | 1
    return this.withTexts([folder, settings], (place, lines) =>
      this.pointer((error) => this.module._sotto_browser_open(place!, lines!, firstUse ? 1 : 0, start, error)),
    )
  }
  close(device: number): void {
    this.module._sotto_device_close(device)
  }
  click(device: number, item: string): void {
    this.withText(item, (place) => this.status((error) => this.module._sotto_device_click(device, place, error)))
  }
  /** An item that the pack does not hold, with what came along when it was opened. */
  clickOpened(device: number, item: string, vector: number[], category: string): void {
    this.withTexts([item, category], (place, name) =>
      this.withBytes(new Uint8Array(new Float32Array(vector).buffer), (numbers) =>
        this.status((error) => this.module._sotto_device_click_opened(device, place!, numbers, vector.length, name!, error)),
      ),
    )
  }
  addPage(device: number, shown: string[], clicked: boolean[]): void {
    this.withList(shown, (list) =>
      this.withBytes(Uint8Array.from(clicked, Number), (flags) =>
        this.status((error) => this.module._sotto_device_add_page(device, list, flags, shown.length, error)),
      ),
    )
  }
  rankAgain(device: number, items: string[], wanted: number): string {
    return this.withList(items, (list) =>
      this.text((error) => this.module._sotto_device_rank_again(device, list, items.length, wanted, error)),
    )
  }
  /** scope: SOTTO_TRAINING, SOTTO_ASKING, or both. */
  terms(device: number, service: string, purpose: string, scope: number): string {
    return this.withTexts([service, purpose], (who, why) =>
      this.text((error) => this.module._sotto_device_terms(device, who!, why!, scope, error)),
    )
  }
  agree(device: number, terms: string): void {
    this.withText(terms, (place) => this.status((error) => this.module._sotto_device_agree(device, place, error)))
  }
  consent(device: number): string {
    return this.text((error) => this.module._sotto_device_consent(device, error))
  }
  withdraw(device: number): void {
    this.status((error) => this.module._sotto_device_withdraw(device, error))
  }
  export(device: number): string {
    return this.text((error) => this.module._sotto_device_export(device, error))
  }
  forget(device: number): void {
    this.status((error) => this.module._sotto_device_forget(device, error))
  }
  forgetItem(device: number, item: string): void {
    this.withText(item, (place) => this.status((error) => this.module._sotto_device_forget_item(device, place, error)))
  }
  /** Which of the items that were read are like this one, most alike first, by the vectors of the pack. */
  alike(item: string, read: string[]): { id: string; likeness: number }[] {
    return this.withTexts([packFile, item, read.join('\n')], (pack, place, list) => {
      const text = this.module._sotto_browser_alike(pack!, place!, list!)
      if (text === 0) return []
      const said = JSON.parse(this.module.UTF8ToString(text)) as [string, number][]
      this.module._sotto_text_free(text)
      return said.map(([id, likeness]) => ({ id, likeness }))
    })
  }
  describe(body: Uint8Array): Record<string, unknown> | null {
    const place = this.withText(packFile, (pack) =>
      this.withBytes(body, (bytes, length) => this.module._sotto_browser_describe(pack, bytes, length)),
    )
    if (place === 0) return null
    const said = this.module.UTF8ToString(place)
    this.module._sotto_text_free(place)
    return JSON.parse(said) as Record<string, unknown>
  }

  // ---- talks

  refresh(device: number): number {
    return this.pointer((error) => this.module._sotto_device_refresh(device, error))
  }
  recommend(device: number, count: number): number {
    return this.pointer((error) => this.module._sotto_device_recommend(device, count, error))
  }
  /** The guide of blind serving, and the keys of its next question. */
  prepare(device: number): number {
    return this.pointer((error) => this.module._sotto_device_prepare(device, error))
  }
  /** What a coordinator asks people for. */
  campaign(device: number): number {
    return this.pointer((error) => this.module._sotto_device_campaign(device, error))
  }
  /** Keys: 64 hexadecimal digits. */
  enrol(device: number, token: Uint8Array, operatorKey: string, recoveryKey: string | null): number {
    return this.withTexts([operatorKey, recoveryKey ?? ''], (key, recovery) =>
      this.withBytes(token, (bytes, length) =>
        this.pointer((error) =>
          this.module._sotto_device_enrol(device, bytes, length, key!, recoveryKey === null ? 0 : recovery!, error),
        ),
      ),
    )
  }
  /** One round. */
  train(device: number): number {
    return this.pointer((error) => this.module._sotto_device_train(device, error))
  }
  next(talk: number): Step {
    const step = this.module._malloc(stepBytes)
    try {
      this.status((error) => this.module._sotto_talk_next(talk, step, error))
      const word = (place: number) => this.module.HEAPU32[place / 4]!
      const kind = word(step)
      if (kind === 2) return { kind: 'wait', milliseconds: word(step + 32) }
      if (kind === 3) return { kind: 'done' }
      const names = word(step + 16)
      const values = word(step + 20)
      const headers = Array.from({ length: word(step + 12) }, (_, place): [string, string] => [
        this.module.UTF8ToString(word(names + 4 * place)),
        this.module.UTF8ToString(word(values + 4 * place)),
      ])
      const body = word(step + 24)
      return {
        kind: 'call',
        method: this.module.UTF8ToString(word(step + 4)),
        path: this.module.UTF8ToString(word(step + 8)),
        headers,
        body: this.module.HEAPU8.slice(body, body + word(step + 28)),
      }
    } finally {
      this.module._free(step)
    }
  }
  /** comeBack: the answer's header Sotto-Come-Back, empty where it has none. */
  received(talk: number, status: number, body: Uint8Array, comeBack: string): void {
    this.withText(comeBack, (header) =>
      this.withBytes(body, (place, length) =>
        this.status((error) => this.module._sotto_talk_received_with(talk, status, place, length, header, error)),
      ),
    )
  }
  lost(talk: number, why: string): void {
    this.withText(why, (place) => this.status((error) => this.module._sotto_talk_lost(talk, place, error)))
  }
  result(talk: number): string {
    return this.text((error) => this.module._sotto_talk_result(talk, error))
  }
  free(talk: number): void {
    this.module._sotto_talk_free(talk)
  }
}
