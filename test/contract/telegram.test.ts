import { adapterSuite } from './adapter_suite.ts';
import { telegramDriver } from './telegram_driver.ts';

adapterSuite('telegram', telegramDriver('polling'));
