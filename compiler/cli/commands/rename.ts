/**
 * `viceroy rename Type.member new`: renames a member in the schema and in the lock, so that the member keeps its id.
 * The command changes the declaration only. The editor renames the uses.
 */
import path from "node:path";
import { isQualifiedName, namespaceOf, simpleName } from "../../../shared/names/qualified-name.js";
import { emptyLock, isPathEnd, type Lock, type LockBlock, type LockEntry, printLock } from "../../lock/index.js";
import type { Position, Schema } from "../../model/index.js";
import { whyReserved } from "../../model/reserved-names.js";
import { writeAtomically } from "../../output/index.js";
import { declarationMembers } from "../../pipeline/declaration-members.js";
import { compileProject, readIfThere, readLock } from "../../pipeline/index.js";
import { version } from "../../version.js";
import { exitCode, type Io } from "../io.js";
import type { Project } from "../project.js";
import { report } from "../report.js";
import { compile } from "./compile.js";

/** @throws ConfigError */
export async function rename(project: Project, member: string, name: string, io: Io): Promise<number> {
  const config = await project.config();
  const { diagnostics, output } = compileProject(config, await project.source(), version);
  if (output === undefined) {
    report(diagnostics, config.root, false, io);
    return exitCode.schema;
  }
  const refuse = (why: string) => {
    io.err(`cannot rename ${member}: ${why}`);
    return exitCode.usage;
  };
  const [owner, old] = [namespaceOf(member), simpleName(member)];
  if (!isQualifiedName(owner) || old === "") return refuse("expected Type.member");
  if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name)) return refuse(`expected an identifier as the new name, got "${name}"`);
  const members = declarationMembers(output.schema, owner);
  if (output.schema.modules.some(({ tasks }) => tasks.some((task) => task.name === owner))) {
    return refuse(`the arguments of task ${owner} are passed by position; change the name in the schema`);
  }
  if (members === undefined) return refuse(`there is no type or actor ${owner} with members`);
  const isEndpoint = output.schema.modules.some(({ actors }) => actors.some((actor) => actor.name === owner));
  const reserved = isEndpoint ? whyReserved(name) : undefined;
  if (reserved !== undefined) return refuse(`an endpoint cannot have the name ${name}: ${reserved}`);
  const lockFile = path.join(config.root, config.lock);
  const found = members.get(old)?.at;
  if (found === undefined) {
    const known = members.has(name) ? readLock(config).lock : undefined;
    const isLocked = (member: string) => known !== undefined && hasMember(known, owner, member);
    if (known === undefined || !isLocked(old) || isLocked(name)) {
      return refuse(`${owner} has no member ${old}; it has ${[...members.keys()].join(", ")}`);
    }
    // The schema already has the new name. Only the lock is changed.
    writeAtomically(lockFile, printLock(renameLocked(known, output.schema, owner, old, name)));
    io.out(`renamed ${owner}.${old} to ${name} in ${config.lock}; the schema already has the new name`);
    return compile(project, { check: false, json: false, draft: false }, io);
  }
  if (members.has(name)) return refuse(`${owner} already has a member ${name}`);
  const text = readIfThere(path.join(config.root, found.file)) ?? "";
  const changed = replaceAt(text, found, old, name);
  if (changed === undefined) return refuse(`its name was not found at ${found.file}:${found.line}:${found.column}`);

  // A declaration that is not in the lock yet needs no rename there.
  const lock = output.lock.previous ?? emptyLock;
  writeAtomically(path.join(config.root, found.file), changed);
  writeAtomically(lockFile, printLock(renameLocked(lock, output.schema, owner, old, name)));
  io.out(`renamed ${owner}.${old} to ${name} in ${found.file} and ${config.lock}`);
  return compile(project, { check: false, json: false, draft: false }, io);
}

function replaceAt(text: string, { line, column }: Position, old: string, name: string): string | undefined {
  const lines = text.split("\n");
  const found = lines[line - 1] ?? "";
  if (!found.startsWith(old, column - 1)) return undefined;
  lines[line - 1] = found.slice(0, column - 1) + name + found.slice(column - 1 + old.length);
  return lines.join("\n");
}

function hasMember({ blocks }: Lock, owner: string, member: string): boolean {
  return blocks.some(({ name, retired, entries }) => {
    return name === owner && !retired && entries.some((entry) => entry.name === member && !entry.retired);
  });
}

function renameLocked(lock: Lock, { modules }: Schema, owner: string, old: string, name: string): Lock {
  const nested = modules.flatMap(({ types }) => types.filter((type) => type.name.startsWith(`${owner}.`)));
  const isIn = (path: string, declaration: string) =>
    path.startsWith(declaration) && isPathEnd(path.slice(declaration.length));
  const entryOf = (entry: LockEntry): LockEntry =>
    entry.name === old && !entry.retired ? { ...entry, name, was: [...entry.was, old] } : entry;
  const blockOf = (block: LockBlock): LockBlock => {
    if (block.name === owner && !block.retired) return { ...block, entries: block.entries.map(entryOf) };
    // The lock identifies inline shapes by their paths. A type in the namespace `owner` can have the name of the
    // member.
    const inside = `${owner}.${old}`;
    if (!isIn(block.name, inside) || nested.some((type) => isIn(block.name, type.name))) return block;
    return { ...block, name: `${owner}.${name}${block.name.slice(inside.length)}` };
  };
  return { ...lock, blocks: lock.blocks.map(blockOf) };
}
