#!/usr/bin/env node
// Starts the binary of this platform with the same arguments, pipes and exit code. The binary is in
// the package `dowse-search-PLATFORM`, which npm chooses, or in `vendor/` of a package built by hand.
"use strict";

const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const path = require("node:path");

const platform = `${process.platform}-${process.arch}`;

function binary() {
  const own = path.join(__dirname, "..", "vendor", platform, "dowse");
  if (existsSync(own)) return own;
  try {
    return require.resolve(`dowse-search-${platform}/dowse`);
  } catch {
    process.stderr.write(
      `error: dowse-search has no binary for \`${platform}\`\n` +
        "hint: build it with `cargo install --path crates/dowse`, or use the container image\n",
    );
    process.exit(2);
  }
}

const child = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  process.stderr.write(`error: dowse could not be started: ${error.message}\n`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal) process.kill(process.pid, signal);
  else process.exit(code ?? 2);
});
