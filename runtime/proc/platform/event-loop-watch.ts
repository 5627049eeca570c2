/**
 * Watches the event loop of this process from a separate thread, because code on the loop cannot notice a handler that
 * never returns. Prints the stack at which the loop is blocked, and finally kills the process.
 */
import type { WatchLimits } from "../../actor/reference/actor-request.js";
import { lazyModules } from "../../lazy-modules.js";
import { systemClock } from "../../link/clock.js";

/** Number of ticks of the loop, and of checks by the thread, in the time after which a warning is printed. */
const ticksPerLimit = 5;

/**
 * The source of the thread, in plain JavaScript. The thread starts from text so that it loads no modules of the
 * program.
 */
const watcherSource = `
const { workerData } = require("node:worker_threads");
const { readFileSync, writeSync } = require("node:fs");
const { Session } = require("node:inspector");
const { SourceMap } = require("node:module");
const { fileURLToPath, pathToFileURL } = require("node:url");
const { shared, pid, boot, warn, fail, every } = workerData;
const ticks = new Int32Array(shared);
let last = -1, since = 0, looked = 0, warned = false, asking = false;

// Modules that were prepared from TypeScript have a map beside them.
function placeOf(url, line, column) {
  if (/\\.[cm]?[jt]sx?\\.[cm]js$/.test(url)) {
    try {
      const map = new SourceMap(JSON.parse(readFileSync(fileURLToPath(url) + ".map", "utf8")));
      const { originalSource, originalLine, originalColumn } = map.findEntry(line, column);
      const source = originalSource?.startsWith("/") ? pathToFileURL(originalSource).href : originalSource;
      if (source) return source + ":" + (originalLine + 1) + ":" + (originalColumn + 1);
    } catch {}
  }
  return url + ":" + (line + 1) + ":" + (column + 1);
}

async function stackOf() {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map();
  session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
  const paused = new Promise((resolve) => {
    session.once("Debugger.paused", ({ params }) => resolve(params.callFrames));
    setTimeout(resolve, 1000, []);
  });
  session.post("Debugger.enable");
  session.post("Debugger.pause");
  const frames = await paused;
  session.post("Debugger.resume");
  session.post("Debugger.disable");
  session.disconnect();
  const lines = [];
  for (const { functionName, location } of frames) {
    const { scriptId, lineNumber, columnNumber } = location;
    const url = urls.get(scriptId) || "";
    if (url === "" || url === boot || url.startsWith("node:")) continue;
    lines.push("\\n    at " + (functionName || "<anonymous>") + " (" + placeOf(url, lineNumber, columnNumber) + ")");
  }
  return lines.slice(0, 20).join("");
}

async function look() {
  const now = performance.now();
  const tick = Atomics.load(ticks, 0);
  // When this thread could not run, the loop could not either: the process was stopped, or the machine was.
  if (tick !== last || now - looked > warn / 2) {
    last = tick;
    since = now;
    warned = false;
  }
  looked = now;
  const stuck = now - since;
  if (asking || stuck < warn || (warned && stuck < fail)) return;
  asking = true;
  const stack = await stackOf();
  asking = false;
  if (Atomics.load(ticks, 0) !== tick) return;
  warned = true;
  writeSync(2, "process " + pid + " has not come back to its event loop for " + Math.round(performance.now() - since) + " ms" + stack + "\\n");
  if (stuck >= fail) process.kill(pid, "SIGKILL");
}
setInterval(look, every);
`;

/** The boot file is at the bottom of every handler's stack and tells nothing about the handler, so stacks omit it. */
const bootFileUrl = new URL("./boot.cjs", import.meta.url).href;

/** Starts the watch. It runs until this process ends. */
export function watchEventLoop({ warn, grace }: WatchLimits): void {
  const shared = new SharedArrayBuffer(4);
  const ticks = new Int32Array(shared);
  const every = Math.max(5, Math.floor(warn / ticksPerLimit));
  const tick = (): void => {
    Atomics.add(ticks, 0, 1);
    systemClock.after(every, tick);
  };
  tick();
  const workerData = { shared, pid: process.pid, boot: bootFileUrl, warn, fail: warn + grace, every };
  const thread = new lazyModules.workerThreads.Worker(watcherSource, {
    eval: true,
    execArgv: [],
    env: {},
    workerData,
    stdin: false,
  });
  thread.unref();
  // Without the thread, `Watchdog` still reports slow handlers that let the event loop run.
  thread.on("error", (error) => process.emitWarning(`cannot watch the event loop: ${error.message}`, "ViceroyStuck"));
}
