import { approvalSuite } from './suite.ts';
import { telegramStage } from './telegram_stage.ts';
import { wordsCases } from './words_cases.ts';

for (const where of telegramStage.places) approvalSuite('telegram', telegramStage, where, wordsCases);
