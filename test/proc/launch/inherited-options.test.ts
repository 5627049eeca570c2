import { describe, expect, test } from "vitest";
import {
  inheritedEnv,
  inheritedExecArgv,
  inheritedNodeOptions,
} from "../../../runtime/proc/launch/inherited-options.js";

describe("a child inherits the options of its parent except those that concern only the parent", () => {
  test("loaders, conditions and limits are kept, in order", () => {
    const options = ["--require", "./pre.cjs", "--import=tsx", "--conditions", "dev", "--max-old-space-size=64"];
    expect(inheritedExecArgv(options)).toEqual(options);
  });

  test.each([
    ["--test"],
    ["--test-only"],
    ["--test-name-pattern", "eval"],
    ["--test-reporter=spec"],
    ["--inspect"],
    ["--inspect-brk=127.0.0.1:9229"],
    ["--inspect-port", "0"],
    ["--watch"],
    ["--watch-path", "./src"],
    ["--watch-preserve-output"],
    ["-e", "main()"],
    ["--eval", "main()"],
    ["-p", "1 + 1"],
    ["-pe", "1 + 1"],
    ["--input-type=module"],
    ["-i"],
    ["--check"],
  ])("%s is not", (...dropped) => {
    expect(inheritedExecArgv(["--import", "tsx", ...dropped, "--enable-source-maps"])).toEqual([
      "--import",
      "tsx",
      "--enable-source-maps",
    ]);
  });

  test("NODE_OPTIONS is filtered in the same way", () => {
    expect(inheritedNodeOptions('--inspect=0 --require "./a b.cjs" --watch --max-old-space-size=64')).toBe(
      '--require "./a b.cjs" --max-old-space-size=64',
    );
  });

  test("the environment is that of this process with changes; undefined removes a variable, and a test runner's variables are removed", () => {
    const base = { PATH: "/bin", NODE_TEST_CONTEXT: "child-v8", A: "1", B: "2" };
    expect(inheritedEnv({ A: "one", B: undefined, C: "3" }, base)).toEqual({ PATH: "/bin", A: "one", C: "3" });
  });
});
