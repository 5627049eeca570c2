/** Code is brought to real daemons with TLS, which have folders of their own, and processes run it there. */
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { makeProgram, startHosts } from "./program.js";

test("processes on hosts run the code that was brought there, in its folder", async () => {
  const { hosts, options, end } = await startHosts(3);
  const program = await makeProgram(
    hosts.map(({ address }) => address),
    options,
  );
  const { value } = await program.run(`
    await using hosts = attach();
    const report = await hosts.sync();
    const sites = hosts.spawnProcs().spawn("sites", Here);
    const [texts, modules, folders, greetings] = await Promise.all(
      [sites.text, sites.module, sites.folder, sites.greeting].map((endpoint) => values(endpoint.call())));
    print({ report, texts, modules, folders, greetings });
  `);
  end();
  expect(value.texts).toEqual(["first", "first", "first"]);
  expect(value.greetings).toEqual(["hello", "hello", "hello"]);
  for (const [rank, { store }] of hosts.entries()) {
    const folder = `${store}/trees/${value.report.tree}`;
    expect(value.report.hosts[rank].folder).toBe(folder);
    expect(value.folders[rank]).toBe(folder);
    expect(value.modules[rank]).toBe(pathToFileURL(`${folder}/src/site.ts`).href);
  }
});
