// The pages become web/built, which is committed: building sotto needs no npm. Names hold a hash of their content, so
// browsers may keep them for ever.
import { defineConfig } from 'vite'

export default defineConfig({
  base: '/',
  build: {
    outDir: 'built',
    emptyOutDir: true,
    assetsDir: 'assets',
    assetsInlineLimit: 0,
    modulePreload: false,
    target: 'es2022',
    rollupOptions: { input: { dashboard: 'dashboard.html', reader: 'reader.html' } },
  },
  worker: { format: 'es', rollupOptions: { output: { entryFileNames: 'assets/device-[hash].js' } } },
  plugins: [
    {
      // One flat folder: src/pages hands the files out under /assets by their names alone.
      name: 'flat',
      writeBundle: {
        sequential: true,
        async handler({ dir }) {
          const { readFile, readdir, rename, rm, writeFile } = await import('node:fs/promises')
          const { brotliCompressSync, constants } = await import('node:zlib')
          for (const name of await readdir(`${dir}/assets`)) await rename(`${dir}/assets/${name}`, `${dir}/${name}`)
          await rm(`${dir}/assets`, { recursive: true })
          // The module is most of what readers download: once and for all as small as it gets.
          for (const name of (await readdir(dir)).filter((one) => one.endsWith('.wasm'))) {
            const content = await readFile(`${dir}/${name}`)
            const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
            await writeFile(`${dir}/${name}.br`, brotliCompressSync(content, { params }))
          }
        },
      },
    },
  ],
})
