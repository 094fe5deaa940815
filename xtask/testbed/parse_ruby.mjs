// Parses a Ruby file: node parse_ruby.mjs NODE_MODULES FILE. The exit code says whether it is Ruby.
import { readFileSync } from "node:fs";

const [modules, file] = process.argv.slice(2);
const { loadPrism } = await import(`${modules}/@ruby/prism/src/index.js`);
const { errors } = (await loadPrism())(readFileSync(file, "utf8"));
for (const { message } of errors) console.error(`${file}: ${message}`);
process.exit(errors.length ? 1 : 0);
