/** Takes the lock of a data folder, says so, and holds it until it is killed or its standard input ends. */
import { lockDataFolder } from '../../src/store/lock.ts';

lockDataFolder(process.argv[2]!);
process.stdout.write('locked\n');
process.stdin.resume();
