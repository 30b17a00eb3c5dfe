import { createLog } from '../../src/base/log.ts';

export const silentLog = createLog({ level: 'silent', format: 'json', secrets: () => [] });
