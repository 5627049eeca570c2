/** Which hosts a job cannot give back. */

/**
 * Checks that a mesh keeps the hosts for which its job was submitted: the next run of the program begins with them.
 * @param asked the number of hosts for which the job was submitted
 * @param hosts the new number
 * @throws Error if the mesh would have fewer
 */
export function checkFirstHosts(mesh: string, asked: number, hosts: number): void {
  if (hosts >= asked) return;
  const first = `the first ${asked === 1 ? "host" : `${asked} hosts`} of mesh "${mesh}"`;
  throw new Error(
    `a job keeps ${first}, for which it was submitted; leave hosts with ${mesh}.resize({ hosts: ${hosts} }), and they stay until the job ends`,
  );
}
