/** Makes the part of a context that is in one process. */
import type { ContextDescription, TaskOwnerMesh, TaskRootMesh } from "../../../generated/tasks.js";
import { thisProc } from "../../index.js";
import { currentCell, importModule, mainClock } from "../kernel.js";
import { openStore, type WorkerObjects } from "../objects/context-objects.js";
import type { Store } from "../objects/copies.js";
import { addMember, ResultOwner } from "../refs/owner-actor.js";
import { Submitter } from "../submit/submitter.js";
import { resultCodec } from "../values-of-task.js";
import { ContextMember } from "./member.js";
import { hostPortOf, isLost } from "./ports-of-actors.js";
import { receiveResult } from "./receive-result.js";

/** The parts of a member. */
export interface MemberSetup {
  readonly id: string;
  /** The number of the host in the context; undefined: this process runs on none of them. */
  readonly host: number | undefined;
  /** The limits of large values, and the record of their use. */
  readonly objects: WorkerObjects;
  /** Returns the center of the context. */
  readonly root: () => TaskRootMesh<never>;
  /** Returns the store of the host; undefined: this process runs on none of them. */
  readonly store: () => Store | undefined;
  /** Returns the hosts. It is called when this process starts its first task. */
  readonly describe: () => ContextDescription | Promise<ContextDescription>;
}

/** The actor that calls this function owns the member: its messages are messages of this actor. */
export function makeMember({ id, host, objects, root, store, describe }: MemberSetup): ContextMember {
  const cell = currentCell();
  let owner: TaskOwnerMesh<never> | undefined;
  const member: ContextMember = new ContextMember({
    ...{ id, host, cell, root },
    storeFor: async (_owner, failed) => (failed === undefined ? store() : undefined),
    objects: openStore(id, objects),
    owner: () => {
      if (owner === undefined)
        member.inTurn(() => {
          owner = thisProc().spawn(`task results ${id}`, ResultOwner, id);
        });
      return owner!;
    },
    loadRegistries: async () => {
      const { registries = [] } = await describe();
      // One that is not on this host lacks nothing but its classes, which are reported when they are used.
      await Promise.allSettled(registries.map((url) => importModule(url)));
    },
    makeSubmitter: () => {
      const description = describe();
      return description instanceof Promise ? description.then(submitterOf) : submitterOf(description);
    },
  });
  addMember(member);
  return member;

  function submitterOf({ hosts, grace }: ContextDescription): Submitter {
    const inTurn = (body: () => void) => member.inTurn(body);
    return new Submitter({
      hosts: hosts.map((one, i) => hostPortOf(one, i, member)),
      home: host ?? 0,
      holder: member.proc,
      clock: mainClock(),
      random: () => cell.proc.random.number(),
      noteLarge: (result) => member.refs.noteLarge(result),
      referencesIn: (task, value, sender) => member.refs.contained(resultCodec(task, member), value, sender),
      receive: (result, memory, place, isNeeded) => receiveResult(member, result, memory, place, isNeeded),
      callInTurn: (body, first, second) => member.callInTurn(body, first, second),
      ...{ inTurn, isLost, grace },
    });
  }
}
