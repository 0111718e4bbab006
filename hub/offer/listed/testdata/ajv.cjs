// Compiles listed schemas, a line each: [input, output, the page's]. The argument is where ajv is.
const { createRequire } = require('node:module')
const { resolve } = require('node:path')
const from = createRequire(resolve(process.argv[2], 'x.js'))
const addFormats = from('ajv-formats').default
const strict = new (from('ajv/dist/2020').default)({ strict: true, logger: false })
const sdk = new (from('ajv').default)({ strict: false, validateFormats: true, validateSchema: false, allErrors: true })
for (const ajv of [strict, sdk]) addFormats(ajv)
for (const line of require('node:fs').readFileSync(0, 'utf8').trim().split('\n')) {
  const [input, output, raw] = JSON.parse(line)
  for (const [ajv, schema] of [[strict, input], [strict, output], [sdk, output]]) {
    try {
      ajv.compile(schema)
      ajv.removeSchema(schema)
    } catch (e) {
      console.error(`${raw}\nis listed as\n${JSON.stringify(schema)}\n${e.message}`)
      process.exit(1)
    }
  }
}
