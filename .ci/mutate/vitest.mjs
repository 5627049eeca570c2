/**
 * The module that tests import as "vitest" during mutation testing. It contains Vitest's own packages for declaring and
 * running tests, for `expect` and for spies, without Vitest's server and without a process or thread for each file. It
 * lacks the features that no test of a mutated folder uses.
 */
import { loadOfVitest } from "./of-vitest.mjs";

// The runner reads the global function when it is loaded. Timers of the runner must not look like timers that a test
// has left behind.
const { setTimeout } = globalThis;
globalThis.setTimeout = (...args) => setTimeout(...args).unref();
const { startTests, ...runner } = await loadOfVitest("@vitest/runner");
globalThis.setTimeout = setTimeout;
const { chai, ...matching } = await loadOfVitest("@vitest/expect");
const { restoreAllMocks, spyOn } = await loadOfVitest("@vitest/spy");

for (const name of ["JestExtend", "JestChaiExpect", "JestAsymmetricMatchers"]) chai.use(matching[name]);
const expect = Object.assign(
  (value, message) => chai.expect(value, message),
  chai.expect,
  globalThis[matching.ASYMMETRIC_MATCHERS_OBJECT],
  { fail: (message) => chai.expect.fail(message) },
);
globalThis[matching.GLOBAL_EXPECT] = expect;
matching.setState({ assertionCalls: 0, currentTestName: "" }, expect);

/** The values of environment variables before tests replaced them. */
const environment = new Map();

function setEnvironment(name, value) {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

const vi = {
  spyOn,
  restoreAllMocks,
  stubEnv(name, value) {
    if (!environment.has(name)) environment.set(name, process.env[name]);
    setEnvironment(name, value);
  },
  unstubAllEnvs() {
    for (const [name, value] of environment) setEnvironment(name, value);
    environment.clear();
  },
};

export { startTests };
export const vitest = { ...runner, assert: chai.assert, expect, vi };
