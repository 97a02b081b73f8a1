// What emscripten makes of the device library (web/wasm/CMakeLists.txt lists what it exports).
declare module '*/built/sotto_device.mjs' {
  export interface Module {
    HEAPU8: Uint8Array<ArrayBuffer>
    HEAPU32: Uint32Array<ArrayBuffer>
    UTF8ToString(place: number): string
    stringToUTF8(text: string, place: number, bytes: number): void
    lengthBytesUTF8(text: string): number
    FS: {
      mkdir(path: string, mode: number): void
      chmod(path: string, mode: number): void
      readdir(path: string): string[]
      readFile(path: string): Uint8Array<ArrayBuffer>
      writeFile(path: string, content: Uint8Array): void
      unlink(path: string): void
      analyzePath(path: string): { exists: boolean }
    }
    _malloc(bytes: number): number
    _free(place: number): void
    _sotto_text_free(text: number): void
    _sotto_device_close(device: number): void
    _sotto_device_terms(device: number, service: number, purpose: number, scope: number, error: number): number
    _sotto_device_agree(device: number, terms: number, error: number): number
    _sotto_device_consent(device: number, error: number): number
    _sotto_device_withdraw(device: number, error: number): number
    _sotto_device_click(device: number, item: number, error: number): number
    _sotto_device_click_opened(
      device: number,
      item: number,
      vector: number,
      dimension: number,
      category: number,
      error: number,
    ): number
    _sotto_device_add_page(device: number, shown: number, clicked: number, count: number, error: number): number
    _sotto_device_rank_again(device: number, items: number, count: number, wanted: number, error: number): number
    _sotto_device_export(device: number, error: number): number
    _sotto_device_forget(device: number, error: number): number
    _sotto_device_forget_item(device: number, item: number, error: number): number
    _sotto_device_refresh(device: number, error: number): number
    _sotto_device_recommend(device: number, count: number, error: number): number
    _sotto_device_prepare(device: number, error: number): number
    _sotto_device_campaign(device: number, error: number): number
    _sotto_device_enrol(
      device: number,
      token: number,
      length: number,
      operatorKey: number,
      recoveryKey: number,
      error: number,
    ): number
    _sotto_device_train(device: number, error: number): number
    _sotto_talk_next(talk: number, step: number, error: number): number
    _sotto_talk_received_with(
      talk: number,
      status: number,
      body: number,
      length: number,
      comeBack: number,
      error: number,
    ): number
    _sotto_talk_lost(talk: number, why: number, error: number): number
    _sotto_talk_result(talk: number, error: number): number
    _sotto_talk_free(talk: number): void
    _sotto_browser_open(folder: number, settings: number, firstUse: number, start: number, error: number): number
    _sotto_browser_set_anchor(bytes: number, length: number): void
    _sotto_browser_anchor(): number
    _sotto_browser_anchor_length(): number
    _sotto_browser_describe(pack: number, body: number, length: number): number
    _sotto_browser_alike(pack: number, item: number, read: number): number
  }
  export default function make(options: { locateFile: () => string }): Promise<Module>
}
declare module '*.wasm?url' {
  const address: string
  export default address
}
declare module '*?worker&url' {
  const address: string
  export default address
}
