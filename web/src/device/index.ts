// @sotto/device: a reader's device in a browser. The same C++ as on a phone (docs/browser.md), in a worker.
//
//   const device = await Device.open(() => ({ ranking: 'local' }))
//   await device.call('refresh')
//   await device.call('click', 'N123')
//   const page = await device.call('recommend', 10)
import moduleAddress from '../../wasm/built/sotto_device.wasm?url'
import { DeviceError, type Calls, type FromWorker, type Name, type Settings, type ToWorker } from './messages'
import workerAddress from './worker?worker&url'

export * from './messages'

// How far the ledger has come, apart from it: whoever loses one of the two loses the budget with it. Some browsers
// empty both together (docs/browser.md).
const anchorKey = 'sotto-ledger-anchor'

interface Policy {
  createScriptURL(address: string): string
}
const trusted = (globalThis as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } }).trustedTypes
// The one script that may become a worker.
const policy: Policy = {
  createScriptURL: (address) => {
    if (address !== workerAddress) throw new TypeError('this is not the worker of the device')
    return address
  },
}

export class Device {
  private readonly worker: Worker
  private readonly waiting = new Map<number, { resolve(value: unknown): void; reject(problem: Error): void }>()
  private number = 0
  private opened: { resolve(): void; reject(problem: Error): void } | null = null
  /** Something may have changed, here or in another tab. */
  onChange: () => void = () => {}
  /** Everything was deleted, here or in another tab. */
  onErased: () => void = () => {}
  /** Does this tab run the device, or another one? */
  here = false

  private constructor(private readonly settings: () => Settings) {
    const address = trusted ? trusted.createPolicy('sotto-worker', policy).createScriptURL(workerAddress) : workerAddress
    this.worker = new Worker(address, { type: 'module' })
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.hear(event.data)
    this.worker.onerror = (event) => {
      const problem = new DeviceError('failed', event.message || 'the device could not start')
      this.opened?.reject(problem)
      for (const one of this.waiting.values()) one.reject(problem)
      this.waiting.clear()
    }
  }

  /** Resolves when the device can be asked, in this tab or in the one that has it. settings: asked for when this tab
   * begins to run it, which may be later. */
  static async open(settings: () => Settings, origin: string = location.origin): Promise<Device> {
    const device = new Device(settings)
    await new Promise<void>((resolve, reject) => {
      device.opened = { resolve, reject }
      device.say({ kind: 'open', origin, module: new URL(moduleAddress, location.href).href })
    })
    return device
  }

  call<N extends Name>(name: N, ...words: Parameters<Calls[N]>): Promise<ReturnType<Calls[N]>> {
    // Asked for when something is at stake; browsers answer by their own rules.
    if (name === 'agree') void navigator.storage?.persist?.().catch(() => false)
    const number = ++this.number
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve: resolve as (value: unknown) => void, reject })
      this.say({ kind: 'call', number, name, words })
    })
  }

  private say(message: ToWorker): void {
    this.worker.postMessage(message)
  }

  /** A storage that is full, or that the browser withholds, is an answer too: the worker waits for one. */
  private ofStorage(use: () => ToWorker): void {
    let answer: ToWorker
    try {
      answer = use()
    } catch (problem) {
      answer = { kind: 'not-kept', why: String(problem) }
    }
    this.say(answer)
  }

  private hear(said: FromWorker): void {
    if (said.kind === 'starting') {
      this.ofStorage(() => ({ kind: 'start', anchor: localStorage.getItem(anchorKey), settings: this.settings() }))
    } else if (said.kind === 'keep-anchor') {
      this.ofStorage(() => {
        localStorage.setItem(anchorKey, said.anchor)
        return { kind: 'kept' }
      })
    } else if (said.kind === 'role') {
      this.here = said.here
      this.opened?.resolve()
      this.onChange()
    } else if (said.kind === 'changed') this.onChange()
    else if (said.kind === 'erased') this.onErased()
    else if (said.kind === 'answer') {
      this.waiting.get(said.number)?.resolve(said.value)
      this.waiting.delete(said.number)
    } else {
      const problem = new DeviceError(said.code, said.message)
      if (said.number === 0) {
        this.opened?.reject(problem)
        for (const one of this.waiting.values()) one.reject(problem)
        this.waiting.clear()
      } else {
        this.waiting.get(said.number)?.reject(problem)
        this.waiting.delete(said.number)
      }
    }
  }
}
