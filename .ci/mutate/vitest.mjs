/**
 * What tests import as "vitest" while they judge mutants: Vitest's own packages for declaring and running tests, for `expect` and
 * for spies, without its server and without a process or thread for each file. What is missing here, no test of a folder
 * under mutation testing uses.
 */
import { loadOfVitest } from "./of-vitest.mjs";

// The runner takes the global function when it is loaded. Its timers must not look like something that a test has left behind.
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
