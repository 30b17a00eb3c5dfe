import { grantsCases } from './grants_cases.ts';
import { approvalSuite } from './suite.ts';
import { telegramStage } from './telegram_stage.ts';

for (const where of telegramStage.places) approvalSuite('telegram', telegramStage, where, grantsCases);
