/** Tests of what programs load with `viceroy/job`: each provider loads the rest when it is used. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const job = new URL("../../dist/job.js", import.meta.url).href;

test("viceroy/job loads neither the client of Kubernetes nor the modules of Node.js that only some jobs need", () => {
  const program = `
    await import(${JSON.stringify(job)});
    console.log(JSON.stringify(process.moduleLoadList));
  `;
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  const loaded = JSON.parse(printed) as string[];
  const needless = ["http", "https", "readline", "tls", "zlib"].filter((name) =>
    loaded.includes(`NativeModule ${name}`),
  );
  expect(needless).toEqual([]);
});
