/** Tests of a program whose actor ends while it waits for the hosts that it has asked the controller for. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { JobProvisionError } from "viceroy/job";
import { expect, test } from "vitest";
import { credentialsFolder } from "../../../runtime/job/credentials/credentials-folder.js";
import { createCredentials, issueShared } from "../../../runtime/job/credentials/index.js";
import { provision } from "../../../runtime/job/kubernetes/provision/provision.js";
import { clientOf, scripted } from "./https-server.js";

test("is refused with the end of the actor, and what was made for it ends", async () => {
  const folder = credentialsFolder(mkdtempSync(path.join(tmpdir(), "vk-")));
  createCredentials(folder, "run", [{ mesh: "generators", rank: 0 }], 60_000);
  const grant = {
    id: "i",
    name: "train-1",
    namespace: "n",
    applyId: "run",
    credentials: issueShared(folder, "drivers"),
  };
  const asked: string[] = [];
  let end: Error | undefined;
  const url = await scripted((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const isFirst = request.method === "POST";
    // The actor is stopped while the controller makes the hosts.
    end = new Error("the actor crew was stopped");
    response
      .writeHead(isFirst ? 201 : 200)
      .end(JSON.stringify(isFirst ? grant : { version: "a", hosts: [], events: [] }));
  });
  const asker = { access: clientOf(url).access, ownerEnd: () => end };
  const error = await provision("train", { generators: { hosts: 1 } }, {}, asker).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    name: JobProvisionError.name,
    message:
      'cannot provision hosts for job "train": the actor that has asked for it has ended: the actor crew was stopped',
  });
  expect(asked[0]).toBe("POST /v1/provisions");
  expect(asked).toContain("DELETE /v1/provisions/i");
});
